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
    std::string name;  // as the program passed it to MPI_File_open
    std::string path;  // absolute path; equals `name` if that is no plain path
    int amode = 0;
    int rank = 0;
    int ranks = 1;
    Standing standing = Standing::ours;
    bool recording = false;
    std::int64_t open_ns = 0;
    std::optional<ports::FileIdentity> identity;  // known on rank 0; if `covered`, on all ranks
    bool pooled = false;                    // the pool of rank 0's node covered it at its open
    const pool::PoolCalls* pool = nullptr;  // of this process; null: it has none
    bool covered = false;                   // it lies below a path of this process' pool
    // Not 0: the number of the group, which is the ranks on several nodes that opened the file
    // together. The pools of their nodes have parts of the file, each the stripes of its
    // aggregators; the same on all ranks (decision 0024). Then all ranks have a pool and know the
    // file's identity.
    std::uint64_t group = 0;
    FileStripes layout;                 // the layout that hints gave the file, if any
    std::vector<std::string> warnings;  // on rank 0
};

}  // namespace forebay::interposer
