#include "pool/capture/descriptors/offset_lock.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/times.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/system_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace forebay::capture {

namespace {

// After so long a holder that is dead is not waited for any more, and then one that is suspended.
constexpr std::int64_t patience_ns = 20'000'000;
constexpr std::int64_t suspended_ns = 10'000'000'000;
// More than this in one step is not counted: this thread was suspended itself, perhaps with all
// others of its job.
constexpr std::int64_t step_ns_max = 20'000'000;

std::atomic<std::uint32_t>& holder_for(const FileDescription& file) noexcept {
    OffsetLocks* const shared = state.shared_offset_locks.load(std::memory_order_acquire);
    auto& holders = (shared != nullptr ? *shared : state.offset_locks).holders;
    return holders[descriptors.index_of(file) % holders.size()];
}

// Another process' thread, too.
bool is_dead(std::uint32_t thread) noexcept {
    return kernel::system_call(SYS_tkill, static_cast<long>(thread), 0) < 0 && errno == ESRCH;
}

// Takes the lock, which `seen` has.
void wait_and_take(std::atomic<std::uint32_t>& holder, std::uint32_t seen,
                   std::uint32_t self) noexcept {
    std::int64_t before_ns = time_ns_of(CLOCK_MONOTONIC);
    std::int64_t waited_ns = 0;
    for (;;) {
        const std::int64_t now_ns = time_ns_of(CLOCK_MONOTONIC);
        waited_ns += std::min(now_ns - before_ns, step_ns_max);
        before_ns = now_ns;
        const bool takes_over =
            waited_ns > suspended_ns || (waited_ns > patience_ns && is_dead(seen));
        std::uint32_t expected = takes_over ? seen : 0;
        if (holder.compare_exchange_strong(expected, self, std::memory_order_acquire, relaxed)) {
            return;
        }
        waited_ns = expected == seen ? waited_ns : 0;
        seen = expected;
        if (waited_ns <= patience_ns) {
            ::sched_yield();  // the holder may have been preempted
        } else {
            const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
            kernel::futex_wait(holder, seen, pause);  // nobody wakes it
        }
    }
}

void take(std::atomic<std::uint32_t>& holder, std::uint32_t self) noexcept {
    std::uint32_t seen = 0;
    if (holder.compare_exchange_strong(seen, self, std::memory_order_acquire, relaxed)) [[likely]] {
        return;
    }
    const int before = errno;
    wait_and_take(holder, seen, self);
    errno = before;
}

}  // namespace

OffsetLock::OffsetLock(const FileDescription& file) noexcept
    : holder_{holder_for(file)},
      self_{static_cast<std::uint32_t>(kernel::system_call(SYS_gettid))} {
    take(holder_, self_);
}

OffsetLock::~OffsetLock() {
    std::uint32_t self = self_;
    // Another thread may have taken it over.
    holder_.compare_exchange_strong(self, 0, std::memory_order_release, relaxed);
}

void OffsetLock::share_with_child() noexcept {
    if (state.shared_offset_locks.load(relaxed) != nullptr) {
        return;
    }
    void* const memory = kernel::mmap(nullptr, sizeof(OffsetLocks), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return;
    }
    OffsetLocks* nobodys = nullptr;
    if (!state.shared_offset_locks.compare_exchange_strong(nobodys, ::new (memory) OffsetLocks{},
                                                           std::memory_order_acq_rel)) {
        kernel::munmap(memory, sizeof(OffsetLocks));  // another thread forks, too
    }
}

}  // namespace forebay::capture
