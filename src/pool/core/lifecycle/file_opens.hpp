// Which clients have a file open, and how many times.
#pragma once

#include "pool/core/types.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace forebay::pool {

class PoolState;
struct PooledFile;

// The opens of a file by one client.
struct ClientOpens {
    std::int32_t count = 0;
    bool writes = false;  // at least one was for writing
    // For CacheConsistency::paper only: the access mode of each open, the oldest first. A close
    // removes the oldest, whichever it is for; that is right, since all opens of a pooled file are
    // of one kind then.
    std::vector<AccessMode> each;
};

struct FileOpens {
    std::map<std::uint32_t, ClientOpens> by_client;
    std::int64_t opened_ns = 0;  // CLOCK_MONOTONIC of the last open
};

// Records that the client has opened the file once more.
void open_file(PoolState& pool_state, std::uint32_t client, PooledFile& file, AccessMode access);
// Records that the client has closed the file once.
void close_file(PoolState& pool_state, std::uint32_t client, PooledFile& file);
// Closes all files of the client.
void close_all_files(PoolState& pool_state, std::uint32_t client);

}  // namespace forebay::pool
