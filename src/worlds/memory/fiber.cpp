// Fibers by ucontext. Each switch of stacks is announced to ASan and TSan, whose functions are weak
// symbols: they are null in a build without sanitizers.
#include "worlds/memory/fiber.hpp"

#include "foundation/base/contracts.hpp"
#include "storage/posix/mapping.hpp"

#include <cstdint>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the sanitizers' names
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom,
                                                   std::size_t* bytes);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace forebay::adapters {

namespace {

// One of the two stacks of a switch: its context, and its data for ASan and TSan.
struct SwitchSide {
    ucontext_t context{};
    void* fake_stack = nullptr;
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    void* tsan = nullptr;
};

// Switches stacks. `stays` is false if `from` will never run again: ASan then frees its fake stack.
void go(SwitchSide& from, SwitchSide& to, bool stays) {
    if (__sanitizer_start_switch_fiber != nullptr) {
        __sanitizer_start_switch_fiber(stays ? &from.fake_stack : nullptr, to.bottom, to.bytes);
    }
    if (__tsan_switch_to_fiber != nullptr) {
        __tsan_switch_to_fiber(to.tsan, 0);
    }
    swapcontext(&from.context, &to.context);
}

// Completes a switch for ASan; must be the first call on the stack `here` after a switch from
// `there`.
void arrive(SwitchSide& here, SwitchSide& there) {
    if (__sanitizer_finish_switch_fiber != nullptr) {
        __sanitizer_finish_switch_fiber(here.fake_stack, &there.bottom, &there.bytes);
    }
}

}  // namespace

struct ActorFiber::State {
    static void enter(unsigned high, unsigned low);
    [[noreturn]] void leave_for_good();

    std::function<void()> body;
    MemoryMapping stack;
    SwitchSide inside;
    SwitchSide outside;
    bool begun = false;
    bool ended = false;
    bool dropped = false;
};

// The pointer to the state comes as two halves, because makecontext() passes ints only.
void ActorFiber::State::enter(unsigned high, unsigned low) {
    const std::uintptr_t address = (std::uintptr_t{high} << 32U) | low;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast,performance-no-int-to-ptr)
    State& state = *reinterpret_cast<State*>(address);
    arrive(state.inside, state.outside);
    [&state]() noexcept { state.body(); }();
    state.leave_for_good();
}

void ActorFiber::State::leave_for_good() {
    ended = true;
    go(inside, outside, false);
    contract_failed("invariant", "nobody comes back to a fiber that ended",
                    std::source_location::current());
}

ActorFiber::ActorFiber(std::size_t stack_bytes, std::function<void()> body)
    : state_{std::make_unique<State>()} {
    State& state = *state_;
    Result<MemoryMapping> stack = MemoryMapping::anonymous(stack_bytes);
    expects(stack.has_value(), "there is memory for a fiber's stack");
    state.stack = std::move(*stack);
    state.body = std::move(body);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    // A guard page at the end of the stack: an overflow faults instead of overwriting memory below.
    mprotect(state.stack.bytes().data(), page, PROT_NONE);
    const std::span<std::byte> usable = state.stack.bytes().subspan(page);
    state.inside.bottom = usable.data();
    state.inside.bytes = usable.size();
    getcontext(&state.inside.context);
    state.inside.context.uc_stack.ss_sp = usable.data();
    state.inside.context.uc_stack.ss_size = usable.size();
    state.inside.context.uc_link = nullptr;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    const auto address = reinterpret_cast<std::uintptr_t>(&state);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): makecontext's own type
    makecontext(&state.inside.context, reinterpret_cast<void (*)()>(&State::enter), 2,
                static_cast<unsigned>(address >> 32U), static_cast<unsigned>(address));
    if (__tsan_create_fiber != nullptr) {
        state.inside.tsan = __tsan_create_fiber(0);
    }
}

ActorFiber::~ActorFiber() {
    if (state_->begun && !state_->ended) {
        state_->dropped = true;
        resume();
    }
    if (__tsan_destroy_fiber != nullptr) {
        __tsan_destroy_fiber(state_->inside.tsan);
    }
}

void ActorFiber::resume() {
    State& state = *state_;
    expects(!state.ended, "a fiber that ended does not go on");
    state.begun = true;
    if (__tsan_get_current_fiber != nullptr) {
        state.outside.tsan = __tsan_get_current_fiber();
    }
    go(state.outside, state.inside, true);
    arrive(state.outside, state.inside);
}

void ActorFiber::suspend() {
    State& state = *state_;
    go(state.inside, state.outside, true);
    arrive(state.inside, state.outside);
    if (state.dropped) {
        state.leave_for_good();
    }
}

bool ActorFiber::ended() const noexcept { return state_->ended; }

}  // namespace forebay::adapters
