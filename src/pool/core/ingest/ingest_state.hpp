// How far the logs are taken: of all clients, and of one.
#pragma once

#include "pool/core/state/never.hpp"

#include <cstdint>
#include <vector>

namespace forebay::pool {

struct IngestState {
    std::uint64_t round = 0;
    // Every entry that was committed before this moment is taken.
    std::int64_t taken_until_ns = 0;
    bool short_of_extents = false;  // some entries wait for room in the lists
};

// An entry that is not done with: its number, and when it is taken to have been begun, where that
// was decided before; 0: not yet.
struct OpenEntry {
    std::uint64_t number = 0;
    std::int64_t time_ns = 0;
    // It cannot be committed any more; its client may still be copying, and will say when it is
    // done.
    bool revoked = false;
};

struct LogProgress {
    std::vector<OpenEntry> open;  // below `looked_at`, in order
    std::uint64_t looked_at = 0;  // entries below are done with, or open
    std::uint64_t entries = 0;    // all below are done with: as published
    std::uint64_t commits = 0;    // as the log's header said before the look
    bool behind = false;          // something that `commits` counts is not taken yet
    // Since when the ring has been full, with the same entry at its end; never_ns: it is not.
    std::int64_t full_since_ns = never_ns;
};

}  // namespace forebay::pool
