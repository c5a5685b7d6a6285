// Port to the run's record: the engine reports each collective call and each error, for the user.
// One recorder per open file and rank; recording costs a few instructions.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/slow_target.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/storage.hpp"

#include <cstdint>
#include <optional>

namespace forebay::ports {

// The statistics of one collective call on one rank. Durations in nanoseconds of the TimeSource.
struct CallRecord {
    IoDirection direction = IoDirection::write;
    Length bytes;  // moved by this rank, without bytes beyond the end of file
    std::int64_t rounds = 0;
    std::int64_t requests = 0;  // submitted to storage by this rank
    bool bypassed = false;      // independent I/O: no exchange was needed
    Length lent;                // windows that this rank assembled in memory lent by storage
    std::int64_t total_ns = 0;
    std::int64_t exchange_ns = 0;  // copying and messages
    std::int64_t storage_ns = 0;   // time with at least one request of this rank in flight
    std::int64_t wait_ns = 0;      // blocked on other ranks or on storage
    std::int32_t found_limit = 0;  // k found while running, mean over targets; 0: not searched for
    // The slowest target, if it is a straggler; the same on every rank.
    std::optional<SlowTarget> slow;
};

class CallRecorder {
public:
    virtual ~CallRecorder() = default;
    virtual void call(const CallRecord& record) = 0;
    virtual void error(const Error& error) = 0;
};

}  // namespace forebay::ports
