// The journal's records of a file, and the commits of a client that wait for the journal.
#pragma once

#include "foundation/ports/stamp.hpp"

#include <cstdint>
#include <optional>

namespace forebay::pool {

// Records are numbered from 1 on.
struct JournalState {
    std::uint64_t number = 0;      // the file's in the journal; 0: nothing that counts
    std::uint64_t last = 0;        // its newest record
    std::uint64_t drained = 0;     // what its records up to this one say is in the file, or old
    std::int64_t waiting = 0;      // deposits and cuts that have no record yet
    std::uint64_t changing = 0;    // the pool may change the file since this record; 0: it does not
    std::uint64_t settled_by = 0;  // the last record that says that something is settled
    bool unsynced = false;         // something was deposited since the last sync of all
    bool lost = false;             // a sync failed: what it was for may be nowhere but here
    // It may have got bytes that the pool has not seen, since the last sync that saw them all: the
    // journal has nothing of these.
    bool past_the_pool = false;
    std::optional<ports::ChangeStamp> stamp;  // the file's, as long as the pool does not change it
};

// So many commits are durable when the journal has so many entries.
struct AwaitedCommits {
    std::uint64_t commits = 0;
    std::uint64_t entered = 0;
};

}  // namespace forebay::pool
