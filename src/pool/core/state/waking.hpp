// Changing a word of the directory on which clients sleep.
#pragma once

#include "pool/core/ports.hpp"
#include "pool/protocol/directory.hpp"

#include <atomic>

namespace forebay::pool {

// Whoever sleeps on the word looks again.
inline void change_and_wake(WordSleepers& sleepers, Word& word) {
    word.fetch_add(1, std::memory_order_release);
    sleepers.wake(word);
}

}  // namespace forebay::pool
