// The clients that have a file open, and how often each.
#pragma once

#include "pool/core/types.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace forebay::pool {

class PoolState;
struct PooledFile;

// How often one client has the file open.
struct ClientOpens {
    std::int32_t count = 0;
    bool writes = false;
    // Where writing and reading exclude each other: how, each time, the first time first. A close
    // takes away the first: as long as the file is pooled, all that are open together are of a
    // kind.
    std::vector<AccessMode> each;
};

struct FileOpens {
    std::map<std::uint32_t, ClientOpens> by_client;
    std::int64_t opened_ns = 0;  // when it was last opened
};

// The client has the file open, once more.
void open_file(PoolState& pool_state, std::uint32_t client, PooledFile& file, AccessMode access);
// The client does not have the file open any more, once less.
void close_file(PoolState& pool_state, std::uint32_t client, PooledFile& file);
// The client has none of its files open any more.
void close_all_files(PoolState& pool_state, std::uint32_t client);

}  // namespace forebay::pool
