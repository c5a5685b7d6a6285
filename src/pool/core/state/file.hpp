// The daemon's knowledge of one file.
#pragma once

#include "pool/core/types.hpp"
#include "pool/policy/drain_order.hpp"
#include "storage/policy/throttle.hpp"
#include "storage/transfer/channel.hpp"
#include "storage/transfer/gate.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace forebay::pool {

inline constexpr std::int64_t never_ns = -1;

// How often one client has the file open.
struct Opens {
    std::int32_t count = 0;
    bool writes = false;
    // Where writing and reading exclude each other: how, each time, the first time first. A close
    // takes away the first: as long as the file is pooled, all that are open together are of a
    // kind.
    std::vector<Access> each;
};

// Something that a client asked for.
struct Asked {
    std::uint64_t ticket = 0;
    Task task;
    std::int64_t at_ns = 0;
    // The entries that the journal has to have, where that is enough; known once all before are
    // taken.
    std::optional<std::uint64_t> entered{};
};

// Deposits on their way to the file system. Their blocks are pinned until the batch has ended.
struct FlushBatch {
    std::vector<Deposit> deposits;
    std::unique_ptr<transfer::Channel> channel;
    std::int64_t news_ns = 0;  // when something of it last happened
};

// Once over the whole file, job by job, in the order that DrainPolicy says. Deposits taken before
// `began_ns` are drained when it has ended, or have failed. After many failures it ends early, and
// the next one begins where it did: what is behind those that fail is drained, too.
struct FlushPass {
    bool under_way = false;
    bool whole = true;       // false: stripes of which only a part is there are left out
    bool from_start = true;  // false: it begins where another one ended early
    Offset began_at;         // these three: by offset
    Offset at;
    Offset end;
    Offset narrow_until{};  // a request has failed: little at a time up to here
    std::int64_t began_ns = 0;
    std::uint64_t began_record = 0;  // the last that the journal had of the file by then
    std::int64_t drained_bytes = 0;
    std::int32_t failures = 0;
    int error = 0;
};

// A look at the room on a file's file system.
struct RoomLook {
    std::int64_t room = -1;            // bytes; negative: it cannot be told
    std::int64_t began_ns = never_ns;  // never_ns: nobody has looked yet
    std::int64_t drained_bytes = 0;    // by the pool until then, to whatever file
};

// The rest of a pass, in the order in which it was deposited.
struct FlushBacklog {
    std::vector<Deposit> deposits;
    std::size_t next = 0;
    bool resumes = false;  // the next pass goes on with it
};

// A call that takes long, and what follows its answer. There is one at a time.
struct BackgroundTask {
    enum class Company {
        alone,  // no job is begun meanwhile
        any,
    };
    std::uint64_t ticket = 0;
    Company company = Company::any;
    std::function<void(std::int64_t)> then;
};

// A block that is being read, or soon will be: dropped meanwhile if its word is another one then.
struct FetchedBlock {
    std::uint32_t number = 0;
    std::uint32_t word = 0;
};

// Reading ahead of one file.
struct Fetching {
    static constexpr std::size_t jobs = 8;  // blocks that are being read at a time

    std::unique_ptr<ports::Storage> source;
    std::unique_ptr<transfer::Gate> gate;
    std::unique_ptr<transfer::Channel> channel;
    std::array<FetchedBlock, jobs> under_way;  // by the channel's job; number 0: none
    std::array<std::int64_t, jobs> begun_ns{};
    std::size_t in_flight = 0;
    std::deque<FetchedBlock> queue;
    // Places of the blocks that are there or were, the oldest first; kept where these leave in this
    // order, and no longer than the file's window.
    std::deque<std::int64_t> line;
    bool gave_up = false;
    bool listed = false;  // among the files that fetch
};

// The journal's records of a file, numbered from 1 on.
struct Journaled {
    std::uint64_t number = 0;      // the file's in the journal; 0: nothing that counts
    std::uint64_t last = 0;        // its newest record
    std::uint64_t drained = 0;     // what its records up to this one say is in the file, or old
    std::int64_t waiting = 0;      // deposits and cuts that have no record yet
    std::uint64_t changing = 0;    // the pool may change the file since this record; 0: it does not
    std::uint64_t settled_by = 0;  // the last record that says that something is settled
    bool unsynced = false;         // something was deposited since the last sync of all
    bool lost = false;             // a sync failed: what it was for may be nowhere but here
    std::optional<Stamp> stamp;    // the file's, as long as the pool does not change it
};

struct File {
    std::uint32_t slot = 0;
    // Owners: this, and background I/O under way, which end after a file that is given up.
    std::shared_ptr<OpenFile> open;
    std::map<std::uint32_t, Opens> clients;

    std::int64_t held_bytes = 0;  // deposited, and not drained
    std::int64_t oldest_ns = 0;   // no deposit was taken before
    std::int64_t written_ns = 0;  // when the newest was taken
    std::int64_t opened_ns = 0;   // when it was last opened

    // Opened for reading and for writing at this time, where these exclude each other: what was
    // closed before is not known until then. never_ns: it was not.
    std::int64_t mixed_ns = never_ns;

    // Leaving: a look at the logs that began after round `left_in` must find no reserved entry.
    std::uint64_t left_in = 0;
    std::uint64_t reserved_in = 0;  // the last round that found one
    std::int64_t left_ns = 0;       // when it began to leave

    std::vector<plan::Throttle> throttles;
    std::unique_ptr<transfer::Gate> gate;
    std::unique_ptr<FlushBatch> job;
    std::int32_t shares = shares_of_file;  // its last job's
    FlushPass pass;
    FlushBacklog line;                         // first in, first out
    Offset resumes_at;                         // by offset: where the next pass begins
    std::int64_t drained_until_ns = never_ns;  // the last whole pass without a failure began then
    std::int64_t failed_ns = never_ns;         // the last one with a failure did
    std::int64_t retry_ns = 0;                 // not before; 0: at any time
    std::int64_t patience_ns = 0;              // the next time that much later
    std::int64_t short_since_ns = never_ns;  // there was no room; see room.hpp. never_ns: there is
    bool told = false;                       // somebody has been told of the error
    bool healed = false;                     // everything is drained since

    std::map<std::int64_t, std::uint32_t> clean;  // numbers of its clean blocks, by place
    Fetching fetching;
    // When another node last asked for something of it; never_ns: not lately.
    std::int64_t shared_ns = never_ns;
    // When it was last opened. Readers of it for the pool see when that changes.
    std::shared_ptr<Stamp> stamp = std::make_shared<Stamp>();
    std::int64_t bytes = 0;     // its length on the file system, as far as is known
    bool changed_here = false;  // by the pool, since then
    bool fresh = false;         // it was changed so shortly before that the times may not show more
    // It may have got bytes that the pool has not seen, since the last sync that saw them all: the
    // journal has nothing of these.
    bool past_the_pool = false;

    Journaled journaled;
    std::vector<Asked> asked;
    std::optional<BackgroundTask> background_task;
    // A truncation is under way; what was deposited since it began, and outlives it.
    bool truncates = false;
    std::vector<Extent> kept;
    std::int64_t name_asked_ns = never_ns;
    std::int64_t room_asked_ns = never_ns;
    std::int64_t room_asked_held = 0;  // bytes that were held then
    RoomLook room_look;                // the last that has ended

    bool busy = false;  // among the pool state's busy files
    bool news = false;  // its word has changed: whoever sleeps is to be woken
};

}  // namespace forebay::pool
