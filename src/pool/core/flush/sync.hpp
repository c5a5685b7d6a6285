// Making a file durable, as an errand: what the journal has of it is not needed after that.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <functional>

namespace forebay::pool {

// Contract: the file has no job and no errand. `then` is told an errno.
void begin_sync(Ledger& ledger, File& file, std::function<void(int)> then);

}  // namespace forebay::pool
