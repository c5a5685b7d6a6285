// Decides where a rank sends a file's bytes: straight to the file system, or into the pool of its
// node (burst buffer).
#pragma once

#include "foundation/base/direction.hpp"

namespace forebay::plan {

enum class StorageRoute {
    file_system,  // past every pool (write-through)
    pool,         // writes are deposits, and reads see what is deposited
    // Writes are deposits of the stripes that belong to this node; other nodes' pools have their
    // stripes.
    part_of_pools,
};

// Facts about the file as this rank knows them when it opens the storage.
struct StorageFacts {
    bool in_parts = false;  // the pools of several nodes have parts of it; the same on all ranks
    bool covered = false;   // it lies below a path of this process' pool
};

// A file that lies in parts is read past the pools: they have drained it by then (decision 0024).
[[nodiscard]] StorageRoute choose_storage(const StorageFacts& facts,
                                          IoDirection direction) noexcept;

}  // namespace forebay::plan
