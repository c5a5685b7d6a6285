// How the pool stands, as JSON (schema/pool.md).
#pragma once

#include "pool/daemon/memory/memory.hpp"
#include "pool/daemon/status/file_statistics.hpp"
#include "pool/policy/memory_limit.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::daemon {

// Bytes that did not arrive, and where they are now.
struct RescuedFile {
    std::string path;
    int error = 0;  // why they did not arrive
    std::int64_t bytes = 0;
    std::string file = {};     // the rescue file; empty: there is none
    std::string problem = {};  // why there is none
};

struct StatusMoment {
    std::int64_t now_ns = 0;
    std::int64_t started_ns = 0;
    bool ended = false;
    pool::MemoryLimit memory = {};        // that programs and pool have together
    std::vector<std::string> notes = {};  // for people
    std::string durability_ended = {};  // why what was asked for is not kept any more; empty: it is
    std::int64_t from_nodes = 0;        // bytes of files that other nodes passed on to this one,
    std::int64_t to_nodes = 0;          // … and this one to others
};

[[nodiscard]] std::string status_document(const pool::Directory& directory,
                                          const SharedLogMemory& memory,
                                          const FileStatistics& statistics,
                                          const StatusMoment& moment,
                                          const std::vector<RescuedFile>& rescued = {});

}  // namespace forebay::daemon
