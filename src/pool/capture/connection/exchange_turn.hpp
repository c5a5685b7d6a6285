// Whose turn it is to ask the daemon.
#pragma once

#include "foundation/base/contracts.hpp"
#include "foundation/kernel/calls.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>

namespace forebay::capture {

inline constexpr timespec nap{.tv_sec = 0, .tv_nsec = 10'000'000};

// One question at a time, and no signal handler meanwhile: a handler could ask, too.
class ExchangeTurn {
public:
    // The word is 0: nobody asks, 1: somebody, 2: others wait.
    explicit ExchangeTurn(std::atomic<std::uint32_t>& turn) noexcept
        : turn_{turn}, signals_{kernel::hold_signals()} {
        std::uint32_t nobody = 0;
        if (turn_.compare_exchange_strong(nobody, 1, std::memory_order_acquire)) {
            return;
        }
        while (turn_.exchange(2, std::memory_order_acquire) != 0) {
            kernel::futex_wait(turn_, 2, nap);
        }
    }
    ExchangeTurn(const ExchangeTurn&) = delete;
    ExchangeTurn& operator=(const ExchangeTurn&) = delete;
    ~ExchangeTurn() {
        const std::uint32_t before = turn_.exchange(0, std::memory_order_release);
        // Two that ask at a time may get each other's answers, and so each other's files.
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
