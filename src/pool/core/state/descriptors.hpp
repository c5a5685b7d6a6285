// The daemon's file descriptors are a limited budget (EMFILE): a file needs one while something may
// be deposited for it. The files that have been idle longest give theirs up
// (docs/decisions/0046-descriptors-are-a-budget.md).
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <cstddef>

namespace forebay::pool {

// Makes up to `most` files leave the pool that have nothing deposited and have been idle for a
// second, the longest idle first. Returns how many leave.
std::size_t give_descriptors_back(PoolState& pool_state, std::size_t most);

}  // namespace forebay::pool
