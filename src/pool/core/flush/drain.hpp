// Writes deposits to the file system: one batch at a time for a file, a few files at once. Which
// file is next is decided in pool/policy/drain_order.hpp, and what of it in
// pool/core/flush/drain_policy.hpp.
#pragma once

#include "pool/core/flush/drain_policy.hpp"
#include "pool/core/state/pool_state.hpp"
#include "pool/policy/drain_order.hpp"
#include "pool/policy/processor_share.hpp"

#include <memory>
#include <vector>

namespace forebay::pool {

// A batch of which nothing is heard for so long does not keep others from beginning.
inline constexpr std::int64_t stalled_ns = 2'000'000'000;

class Drain {
public:
    explicit Drain(PoolState& pool_state)
        : pool_state_{pool_state}, policy_{make_drain_policy(pool_state)} {}

    // Takes completions, ends batches.
    bool collect();
    // Starts batches. `pressed`: memory or lists are getting short.
    bool start(bool pressed);

private:
    void finish(PooledFile& file);
    bool start_batch(PooledFile& file, DrainReason why);
    void end_pass(PooledFile& file);
    void submit(PooledFile& file, std::vector<Deposit> deposits);
    [[nodiscard]] DrainCandidate candidate(const PooledFile& file);

    PoolState& pool_state_;
    std::unique_ptr<const DrainPolicy> policy_;
    ProcessorShare effort_;
};

}  // namespace forebay::pool
