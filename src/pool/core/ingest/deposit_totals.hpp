// The deposits of a file as a whole: how many bytes, and since when.
#pragma once

#include <cstdint>

namespace forebay::pool {

struct DepositTotals {
    std::int64_t held_bytes = 0;  // deposited, and not drained
    std::int64_t oldest_ns = 0;   // no deposit was taken before
    std::int64_t written_ns = 0;  // when the newest was taken
};

}  // namespace forebay::pool
