// Which way a file's bytes take on this rank: to the file system, or into the pool of its node.
#pragma once

#include "foundation/base/direction.hpp"

namespace forebay::plan {

enum class StorageRoute {
    file_system,  // past every pool
    pool,         // writes are deposits, and reads see what is deposited
    // Writes are deposits of this node's stripes; the pools of other nodes have theirs.
    part_of_pools,
};

// A rank's knowledge of the file when it opens the storage.
struct StorageFacts {
    bool in_parts = false;  // pools of several nodes have parts of it; the same on all ranks
    bool covered = false;   // it lies below a path of this process' pool
};

// A file in parts is read past the pools, which have written out by then what they had of it
// (decision 0024).
[[nodiscard]] StorageRoute choose_storage(const StorageFacts& facts,
                                          IoDirection direction) noexcept;

}  // namespace forebay::plan
