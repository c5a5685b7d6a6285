// Drains files: writes deposits back to the file system, with at most one batch in flight for a
// file, so that two writes of one byte never race, and a few files at a time.
// pool/policy/drain_order.hpp decides which file is next, pool/core/flush/drain_policy.hpp which of
// its deposits.
#pragma once

#include "pool/core/flush/drain_policy.hpp"
#include "pool/core/state/pool_state.hpp"
#include "pool/policy/drain_order.hpp"
#include "pool/policy/processor_share.hpp"

#include <memory>
#include <vector>

namespace forebay::pool {

// A batch without progress for this long (2 s) does not count against the number of files drained
// at a time.
inline constexpr std::int64_t stalled_ns = 2'000'000'000;

class Drain {
public:
    explicit Drain(PoolState& pool_state)
        : pool_state_{pool_state}, policy_{make_drain_policy(pool_state)} {}

    // Takes completions of requests, and ends batches. Returns true if anything has ended.
    bool collect();
    // Starts batches. `pressed`: memory or extents are short. Returns true if it did anything.
    bool start(bool pressed);

private:
    void finish(PooledFile& file);
    bool start_batch(PooledFile& file, DrainReason why);
    // Records the outcome of a pass: an error and the time of a retry, or that everything was
    // drained.
    void end_pass(PooledFile& file);
    void submit(PooledFile& file, std::vector<Deposit> deposits);
    [[nodiscard]] DrainCandidate candidate(const PooledFile& file);

    PoolState& pool_state_;
    std::unique_ptr<const DrainPolicy> policy_;
    ProcessorShare effort_;
};

}  // namespace forebay::pool
