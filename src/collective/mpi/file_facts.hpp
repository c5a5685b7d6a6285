// Facts about one open file that are fixed when it is opened.
#pragma once

#include "collective/mpi/opening.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/mpi_bridge/storage.hpp"
#include "settings/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forebay::interposer {

struct FileFacts {
    std::string name;  // as the program gave it
    std::string path;  // absolute; the name where it is no plain path
    int amode = 0;
    int rank = 0;
    int ranks = 1;
    Standing standing = Standing::ours;
    bool recording = false;
    std::int64_t open_ns = 0;
    std::optional<ports::FileIdentity> identity;  // on rank 0; where `covered`, on all ranks
    bool pooled = false;                          // when it was opened, on rank 0's node
    const pool::PoolCalls* pool = nullptr;        // of this process; null where there is none
    bool covered = false;                         // it lies below a path of this process' pool
    // Not 0: the pools of several nodes have parts of it, which lie in its stripes; the same on all
    // ranks (decision 0024). Then all of them have a pool and know the file's identity.
    std::uint64_t group = 0;
    FileStripes layout;                 // of a file that hints gave a layout
    std::vector<std::string> warnings;  // on rank 0
};

}  // namespace forebay::interposer
