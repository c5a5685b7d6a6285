// The deposits of a file in total: how many bytes, and of what age. Times are CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

namespace forebay::pool {

struct DepositTotals {
    std::int64_t held_bytes = 0;  // bytes deposited and not drained
    std::int64_t oldest_ns = 0;   // all deposits were taken at this time or later
    std::int64_t written_ns = 0;  // when the newest was taken
};

}  // namespace forebay::pool
