// Making a file durable, as an background task: what the journal has of it is not needed after
// that.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <functional>

namespace forebay::pool {

// Contract: no batch and no background task of the file is under way. `then` gets an errno.
void begin_sync(PoolState& pool_state, PooledFile& file, std::function<void(int)> then);

}  // namespace forebay::pool
