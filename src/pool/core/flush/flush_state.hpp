// How far the draining of a file is, and how it went.
#pragma once

#include "pool/core/state/never.hpp"
#include "pool/policy/drain_order.hpp"
#include "pool/protocol/search.hpp"
#include "storage/policy/throttle.hpp"
#include "storage/transfer/channel.hpp"
#include "storage/transfer/gate.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace forebay::pool {

// Deposits on their way to the file system. Their blocks are pinned until the batch has ended.
struct FlushBatch {
    std::vector<Deposit> deposits;
    std::unique_ptr<transfer::Channel> channel;
    std::int64_t progress_ns = 0;  // when something of it last happened
};

// Once over the whole file, batch by batch, in the order that DrainPolicy says. Deposits taken
// before `began_ns` are drained when it has ended, or have failed. After many failures it ends
// early, and the next one begins where it did: what is behind those that fail is drained, too.
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

// The rest of a pass, in the order in which it was deposited.
struct FlushBacklog {
    std::vector<Deposit> deposits;
    std::size_t next = 0;
    bool resumes = false;  // the next pass goes on with it
};

struct FlushState {
    std::vector<plan::Throttle> throttles;
    std::unique_ptr<transfer::Gate> gate;
    std::unique_ptr<FlushBatch> batch;     // under way; null: none
    std::int32_t shares = shares_of_file;  // its last batch's
    FlushPass pass;
    FlushBacklog backlog;                      // first in, first out
    Offset resumes_at;                         // by offset: where the next pass begins
    std::int64_t drained_until_ns = never_ns;  // the last whole pass without a failure began then
    std::int64_t failed_ns = never_ns;         // the last one with a failure did
    std::int64_t retry_ns = 0;                 // not before; 0: at any time
    std::int64_t retry_delay_ns = 0;           // the next time that much later
    bool error_reported = false;               // a client has learned of FileSlot::error
    bool error_healed = false;                 // everything is drained since
};

}  // namespace forebay::pool
