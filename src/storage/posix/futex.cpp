// All futexes are shared ones (no FUTEX_PRIVATE_FLAG): several processes map the words.
#include "storage/posix/futex.hpp"

#include "foundation/base/times.hpp"
#include "foundation/kernel/system_call.hpp"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace forebay::adapters {

static_assert(sizeof(ports::Word) == sizeof(std::uint32_t));
static_assert(ports::Word::is_always_lock_free);

namespace {

// A null `limit` means no timeout.
void wait_on(const ports::Word& word, std::uint32_t seen, const timespec* limit) noexcept {
    kernel::system_call(SYS_futex, kernel::word_of(&word), FUTEX_WAIT, seen,
                        kernel::word_of(limit));
}

}  // namespace

void futex_wait_for(const ports::Word& word, std::uint32_t seen,
                    std::chrono::nanoseconds time_max) noexcept {
    const timespec limit{time_max.count() / second_ns, time_max.count() % second_ns};
    wait_on(word, seen, &limit);
}

void futex_wait(const ports::Word& word, std::uint32_t seen) noexcept {
    wait_on(word, seen, nullptr);
}

void futex_wake(ports::Word& word) noexcept {
    kernel::system_call(SYS_futex, kernel::word_of(&word), FUTEX_WAKE, INT_MAX);
}

void relax_core() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace forebay::adapters
