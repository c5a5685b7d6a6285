// Sleeping on a word that several threads or processes share. The word's own acquire and release
// are what synchronises; the futex only saves the cores from spinning.
#pragma once

#include "foundation/ports/communicator.hpp"

#include <chrono>
#include <cstdint>

namespace forebay::adapters {

// Sleeps while `word` is `seen`, until woken or `time_max` has passed. May return early for no
// reason: the caller looks at the word again.
void futex_wait_for(const ports::Word& word, std::uint32_t seen,
                    std::chrono::nanoseconds time_max) noexcept;

// As futex_wait_for, without a limit.
void futex_wait(const ports::Word& word, std::uint32_t seen) noexcept;

// Wakes all who sleep on `word`, in every process that maps it.
void futex_wake(ports::Word& word) noexcept;

// Tells the core that this is a loop that waits.
void relax_core() noexcept;

}  // namespace forebay::adapters
