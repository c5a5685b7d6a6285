// How far the draining (write-back) of a file is, and its errors.
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

// One batch of deposits that is being written to the file system. The blocks of its deposits are
// pinned until it has ended.
struct FlushBatch {
    std::vector<Deposit> deposits;
    std::unique_ptr<transfer::Channel> channel;
    std::int64_t progress_ns = 0;  // when a request of it last ended, CLOCK_MONOTONIC
};

// One pass over the deposits of a file, batch by batch, in the order of its DrainPolicy. When it
// has ended, each deposit taken before `began_ns` was written or has failed. After many failures a
// pass ends early, and the next one begins there: so deposits after those that fail are drained,
// too.
struct FlushPass {
    bool under_way = false;
    bool whole = true;       // false: stripes that are not complete are left out
    bool from_start = true;  // false: it began where a pass ended early
    Offset began_at;         // for draining by offset: where the pass began, is, and ends
    Offset at;
    Offset end;
    // After a failed request: small requests up to this offset.
    Offset narrow_until{};
    std::int64_t began_ns = 0;
    std::uint64_t began_record = 0;  // number of the file's newest journal record at that time
    std::int64_t drained_bytes = 0;
    std::int32_t failures = 0;
    int error = 0;
};

// For FIFO draining: the rest of a pass, in the order in which it was deposited.
struct FlushBacklog {
    std::vector<Deposit> deposits;
    std::size_t next = 0;
    bool resumes = false;  // the next pass continues with it
};

struct FlushState {
    std::vector<plan::Throttle> throttles;
    std::unique_ptr<transfer::Gate> gate;
    std::unique_ptr<FlushBatch> batch;     // the batch being written; null: none
    std::int32_t shares = shares_of_file;  // shares of the last batch; see shares_of()
    FlushPass pass;
    FlushBacklog backlog;  // for FIFO draining
    Offset resumes_at;     // for draining by offset: where the next pass begins
    // When the last complete pass without a failure began; deposits from before are drained.
    std::int64_t drained_until_ns = never_ns;
    std::int64_t failed_ns = never_ns;  // when the last pass or fsync that failed began
    std::int64_t retry_ns = 0;          // earliest time of a retry; 0: at any time
    std::int64_t retry_delay_ns = 0;    // delay before the last retry; doubles with each failure
    // The daemon has answered an fsync, drain or close with FileSlot::error. Writes and closes that
    // read it in the directory do not count.
    bool error_reported = false;
    bool error_healed = false;  // everything has been drained since that error
};

}  // namespace forebay::pool
