// Shared futexes throughout (no FUTEX_PRIVATE_FLAG): the words lie in memory of several processes.
#include "adapters/posix/futex.hpp"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forebay::adapters {

static_assert(sizeof(ports::Word) == sizeof(std::uint32_t));
static_assert(ports::Word::is_always_lock_free);

void futex_wait_for(const ports::Word& word, std::uint32_t seen,
                    std::chrono::nanoseconds time_max) noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    const timespec limit{time_max.count() / second, time_max.count() % second};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void futex_wait(const ports::Word& word, std::uint32_t seen) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

void futex_wake(ports::Word& word) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void relax_core() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace forebay::adapters
