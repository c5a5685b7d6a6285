// The journal's records of one file, and the commits of one client that wait for the journal.
#pragma once

#include "foundation/ports/stamp.hpp"

#include <cstdint>
#include <optional>

namespace forebay::pool {

// Records are numbered from 1 on; 0 stands for none.
struct JournalState {
    std::uint64_t number = 0;  // number of the file in the journal; 0: no record of it counts
    std::uint64_t last = 0;    // the file's newest record
    // The deposits in its records up to this one are in the file, or were overwritten.
    std::uint64_t drained = 0;
    std::int64_t waiting = 0;  // deposits and truncations that have no record yet
    // The record that says that the pool may change the file from now on; 0: it does not.
    std::uint64_t changing = 0;
    std::uint64_t settled_by = 0;  // the last record that says what is settled
    bool unsynced = false;         // something was deposited since the last complete sync
    bool lost = false;             // a sync failed: its bytes may be in the journal only
    // The file may have bytes that did not come through the pool, written since the last complete
    // sync. The journal does not have them.
    bool past_the_pool = false;
    // The file's length and times, while the pool does not change it; nullopt: unknown.
    std::optional<ports::ChangeStamp> stamp;
};

// The first `commits` commits of a client are durable when the journal has `entered` entries.
struct AwaitedCommits {
    std::uint64_t commits = 0;
    std::uint64_t entered = 0;
};

}  // namespace forebay::pool
