// The value of a time in nanoseconds that means "it has not happened".
#pragma once

#include <cstdint>

namespace forebay::pool {

inline constexpr std::int64_t never_ns = -1;

}  // namespace forebay::pool
