// The lock around one question and its reply on the socket to the daemon: a futex word, with
// signals blocked while it is held.
#pragma once

#include "foundation/base/contracts.hpp"
#include "foundation/kernel/calls.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>

namespace forebay::capture {

inline constexpr timespec nap{.tv_sec = 0, .tv_nsec = 10'000'000};

// RAII guard: one question at a time in this process. Signals are blocked while it is held, because
// a handler that asked a question, too, would wait for its own thread forever.
class QuestionLock {
public:
    // Takes the lock. The futex word `turn` is 0 if the lock is free, 1 if it is held, and 2 if
    // other threads may wait for it.
    explicit QuestionLock(std::atomic<std::uint32_t>& turn) noexcept
        : turn_{turn}, signals_{kernel::hold_signals()} {
        std::uint32_t nobody = 0;
        if (turn_.compare_exchange_strong(nobody, 1, std::memory_order_acquire)) {
            return;
        }
        while (turn_.exchange(2, std::memory_order_acquire) != 0) {
            kernel::futex_wait(turn_, 2, nap);
        }
    }
    QuestionLock(const QuestionLock&) = delete;
    QuestionLock& operator=(const QuestionLock&) = delete;
    ~QuestionLock() {
        const std::uint32_t before = turn_.exchange(0, std::memory_order_release);
        // Two threads that ask at the same time could get each other's replies, and with them each
        // other's descriptors.
        invariant(before != 0, "one thread at a time asks the daemon");
        if (before == 2) {
            kernel::futex_wake(turn_, 1);
        }
        kernel::give_signals(signals_);
    }

private:
    std::atomic<std::uint32_t>& turn_;
    kernel::Signals signals_;
};

}  // namespace forebay::capture
