// A short name for the most frequent memory order.
#pragma once

#include <atomic>

namespace forebay {

inline constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace forebay
