// A signal handler of the program may fork while its thread is in the middle of a captured call.
// The child returns from the handler into that call, which belongs to its parent: the parent goes
// on with the same log entry, the same claimed offset and the same socket. So the child finishes
// such a call without any effect, on memory that nobody else sees, and then makes it anew over a
// connection of its own, as if the signal had come just before the call.
#pragma once

#include "foundation/kernel/calls.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <sys/types.h>

namespace forebay::capture {

class InsideCall;

// The captured calls of a thread.
struct ThreadCalls {
    const InsideCall* innermost = nullptr;  // null: none uses the connection's memory
    // This thread came about by a fork inside of a call, and returns into it; the parent's memory
    // stays mapped until then.
    bool parents_are_open = false;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): defined in process.cpp
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadCalls thread_calls;
// Forks by which this process' memory came about.
extern constinit std::atomic<std::uint32_t> forks_of_memory;
// A signal handler has forked in the middle of a captured call, in this process or a parent.
extern constinit std::atomic<bool> forks_inside;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// Unmaps the parent's memory: this thread has returned from all calls of its parent.
void leave_parents_calls() noexcept;

// RAII guard around each use of the connection's memory, and of what the daemon has replied. In a
// child that is forked meanwhile, the memory stays mapped.
class InsideCall {
public:
    InsideCall() noexcept : outer_{thread_calls.innermost} {
        thread_calls.innermost = this;
        begin();
        if (outer_ == nullptr && thread_calls.parents_are_open) [[unlikely]] {
            leave_parents_calls();
            begin();  // nothing was done yet: if the child was forked just now, the call is its own
        }
    }
    InsideCall(const InsideCall&) = delete;
    InsideCall& operator=(const InsideCall&) = delete;
    ~InsideCall() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        thread_calls.innermost = outer_;
    }
    // Whether this process is a child that was forked since: nothing that the call did or found
    // counts here.
    [[nodiscard]] bool is_parents() const noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return forks_of_memory.load(std::memory_order_relaxed) != forks_;
    }

private:
    void begin() noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        forks_ = forks_of_memory.load(std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }

    const InsideCall* outer_;
    std::uint32_t forks_ = 0;
};

// Whether this thread is in a call of the process that this one was forked from.
[[nodiscard]] inline bool in_parents_call() noexcept {
    return thread_calls.innermost != nullptr && thread_calls.innermost->is_parents();
}

// The result of `act`, which is made anew in a child that was forked meanwhile.
template <class Act>
auto in_one_process(const Act& act) noexcept -> decltype(act()) {
    for (;;) {
        const InsideCall inside;
        const auto result = act();
        if (!inside.is_parents()) {
            return result;
        }
    }
}

// RAII guard: no signal handler runs in this thread, so none can fork. The signals of libc's own
// are blocked as well: a thread that is cancelled would leave the call in the middle.
class BlockedSignals {
public:
    BlockedSignals() noexcept : before_{kernel::hold_signals()} {}
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;
    ~BlockedSignals() { kernel::give_signals(before_); }

private:
    kernel::Signals before_;
};

// Makes a system call that must have effect once only, such as the move of an offset that processes
// share, unless in_parents_call(): then it fails with EINTR. Signals are blocked only in programs
// that have forked in the middle of a call. So once in a program's life, a fork within a few
// instructions may have the child make the system call, too.
template <class Call>
off_t unless_parents(const Call& call) noexcept {
    const auto checked = [&call]() noexcept -> off_t {
        if (in_parents_call()) {
            errno = EINTR;
            return -1;
        }
        return call();
    };
    if (!forks_inside.load(std::memory_order_relaxed)) [[likely]] {
        return checked();
    }
    const BlockedSignals until_made;
    return checked();
}

}  // namespace forebay::capture
