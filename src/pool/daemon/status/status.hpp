// The state of the pool as JSON (schema/pool.md), for `forebay pool status` and the daemon's last
// report.
#pragma once

#include "pool/daemon/memory/memory.hpp"
#include "pool/daemon/status/count_samples.hpp"
#include "pool/daemon/status/file_statistics.hpp"
#include "pool/policy/memory_limit.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::daemon {

// Bytes that could not be written to their file, and where they are now.
struct RescuedFile {
    std::string path;
    int error = 0;  // why they could not be written
    std::int64_t bytes = 0;
    std::string file = {};     // the rescue file; empty: there is none
    std::string problem = {};  // why there is none
};

struct StatusMoment {
    std::int64_t now_ns = 0;
    std::int64_t started_ns = 0;
    bool ended = false;
    pool::MemoryLimit memory = {};        // memory that the programs and the pool share
    std::vector<std::string> notes = {};  // messages for users
    // Why durability is no longer what the user asked for; empty: it is.
    std::string durability_ended = {};
    std::int64_t from_nodes = 0;   // bytes of files that this node has read from other nodes
    std::int64_t to_nodes = 0;     // … and other nodes from this one
    std::int64_t handed_over = 0;  // bytes of this node that another one has written for it
    std::int64_t for_others = 0;   // bytes of other nodes that this one has written for them
    std::size_t clients_high = 0;  // the most processes that used the pool at a time
    std::vector<CountSample> samples = {};  // empty: the document has none
};

[[nodiscard]] std::string status_document(const pool::Directory& directory,
                                          const SharedLogMemory& memory,
                                          const FileStatistics& statistics,
                                          const StatusMoment& moment,
                                          const std::vector<RescuedFile>& rescued = {});

}  // namespace forebay::daemon
