// Makes a file durable (fsync) by a background task; then the journal's records of it can be let
// go.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <functional>

namespace forebay::pool {

// Contract: no batch and no background task of the file is in flight, and the daemon has a
// descriptor. `then` gets 0 or an errno.
void begin_sync(PoolState& pool_state, PooledFile& file, std::function<void(int)> then);

}  // namespace forebay::pool
