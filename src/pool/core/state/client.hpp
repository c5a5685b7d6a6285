// The daemon's knowledge of one client.
#pragma once

#include "pool/core/state/blocks.hpp"
#include "pool/policy/credit.hpp"
#include "pool/protocol/log.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace forebay::pool {

// An entry that is not done with: its number, and when it is taken to have been begun, where that
// was decided before; 0: not yet.
struct OpenEntry {
    std::uint64_t number = 0;
    std::int64_t time_ns = 0;
    // It cannot be committed any more; its client may still be copying, and will say when it is
    // done.
    bool revoked = false;
};

// So many commits are durable when the journal has so many entries.
struct Awaited {
    std::uint64_t commits = 0;
    std::uint64_t entered = 0;
};

struct Client {
    enum class Standing {
        here,
        distrusted,  // what it writes is not looked at; to be dismissed
        leaving,     // dismissed: what it committed is still to be taken
        gone,        // its log is kept while it holds bytes
        departed,
    };

    std::uint64_t process = 0;
    Log log;
    Standing standing = Standing::here;
    Blocks blocks;

    std::vector<OpenEntry> open;  // below `looked_at`, in order
    std::uint64_t looked_at = 0;  // entries below are done with, or open
    std::uint64_t entries = 0;    // all below are done with: as published
    std::uint64_t commits = 0;    // as the log's header said before the look
    bool behind = false;          // something that `commits` counts is not taken yet
    // Since when its log is sealed (pool/protocol/log.hpp), and how many numbers it gave out
    // before.
    std::optional<std::int64_t> sealed_ns;
    std::uint64_t sealed_numbers = 0;

    std::deque<Awaited> awaited;  // where there is a journal

    std::int64_t writes = 0;  // files that it has open for writing
    Demand demand;
    std::uint64_t reserved_before = 0;
    std::optional<std::int64_t> wrote_ns;  // when it last had a file open for writing

    bool news = false;    // its words have changed: whoever sleeps is to be woken
    bool synced = false;  // more of its commits are durable: wake those that wait
};

}  // namespace forebay::pool
