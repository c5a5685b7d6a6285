// Where the engine says what it did, so that a user can be told. One recorder per open file and
// rank; adding to it costs a few instructions.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/slow_target.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/storage.hpp"

#include <cstdint>
#include <optional>

namespace forebay::ports {

// The result of one collective call on one rank. Durations in nanoseconds of the TimeSource.
struct CallRecord {
    IoDirection direction = IoDirection::write;
    Length bytes;  // of this rank, really moved
    std::int64_t rounds = 0;
    std::int64_t requests = 0;  // given to storage by this rank
    bool bypassed = false;      // the exchange was not needed
    Length lent;                // windows that this rank put into memory that its storage lent
    std::int64_t total_ns = 0;
    std::int64_t exchange_ns = 0;    // copying and messages
    std::int64_t storage_ns = 0;     // at least one request of this rank in flight
    std::int64_t wait_ns = 0;        // blocked on other ranks or on storage
    std::int32_t found_limit = 0;    // k as found while running, mean of the targets; 0: not sought
    std::optional<SlowTarget> slow;  // the slowest, if it is; the same on every rank
};

class CallRecorder {
public:
    virtual ~CallRecorder() = default;
    virtual void call(const CallRecord& record) = 0;
    virtual void error(const Error& error) = 0;
};

}  // namespace forebay::ports
