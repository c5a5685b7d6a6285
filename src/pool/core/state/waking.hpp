// Changes a futex word of the directory and wakes the clients that sleep on it.
#pragma once

#include "pool/core/ports.hpp"
#include "pool/protocol/directory.hpp"

#include <atomic>

namespace forebay::pool {

// The change comes first, so that a client that is about to sleep on the old value does not.
inline void change_and_wake(WordSleepers& sleepers, Word& word) {
    word.fetch_add(1, std::memory_order_release);
    sleepers.wake(word);
}

}  // namespace forebay::pool
