// How far the daemon has taken the clients' logs: the state of all, and that of one.
#pragma once

#include "pool/core/state/never.hpp"

#include <cstdint>
#include <vector>

namespace forebay::pool {

struct IngestState {
    // Number of the current round.
    std::uint64_t round = 0;
    // CLOCK_MONOTONIC: every entry that was committed before this moment is taken.
    std::int64_t taken_until_ns = 0;
    bool short_of_extents = false;  // some entries wait for free extents
};

// An entry that is not done with.
struct OpenEntry {
    std::uint64_t number = 0;
    // The time by which it will be ordered, if an earlier round has determined that; 0: not yet.
    std::int64_t time_ns = 0;
    // The daemon has revoked the entry. Its client may still be copying, and abandons it when done.
    bool revoked = false;
};

// How far one log is taken. Numbers are entry numbers.
struct LogProgress {
    std::vector<OpenEntry> open;  // entries below `looked_at` that are not done with, ascending
    std::uint64_t looked_at = 0;  // entries below this one are done with, or in `open`
    std::uint64_t entries = 0;    // ClientSlot::entries: all entries below are done with
    std::uint64_t commits = 0;    // LogHeader::commits as read before the look at the entries
    bool behind = false;          // an entry that `commits` counts is not taken yet
    // Since when the ring has been full with the same oldest entry; never_ns: it is not.
    std::int64_t full_since_ns = never_ns;
};

}  // namespace forebay::pool
