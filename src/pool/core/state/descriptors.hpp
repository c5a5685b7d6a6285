// The daemon's descriptors are a budget: a file needs one as long as something may be deposited for
// it. The file that has not been written to for longest gives its own to others
// (docs/decisions/0046-descriptors-are-a-budget.md).
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <cstddef>

namespace forebay::pool {

// Up to `most` files that have nothing deposited and were left alone for a while leave the pool.
// How many it were.
std::size_t give_descriptors_back(PoolState& pool_state, std::size_t most);

}  // namespace forebay::pool
