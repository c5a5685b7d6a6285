// Sleeping on a futex word shared by threads or processes. Synchronisation comes from acquire and
// release on the word itself; the futex only avoids spinning.
#pragma once

#include "foundation/ports/communicator.hpp"

#include <chrono>
#include <cstdint>

namespace forebay::adapters {

// Sleeps while `word` equals `seen`, until woken or for `time_max`. May return spuriously: the
// caller checks the word again.
void futex_wait_for(const ports::Word& word, std::uint32_t seen,
                    std::chrono::nanoseconds time_max) noexcept;

// As futex_wait_for(), without a timeout.
void futex_wait(const ports::Word& word, std::uint32_t seen) noexcept;

// Wakes all sleepers on `word`, in every process that maps it.
void futex_wake(ports::Word& word) noexcept;

// Tells the processor that this is a spin loop (the pause instruction).
void relax_core() noexcept;

}  // namespace forebay::adapters
