// How fast a file's targets (OSTs) are, and what follows from it: which target is reported as slow,
// and which k is remembered for later runs.
#pragma once

#include "collective/plan/plan.hpp"
#include "foundation/base/slow_target.hpp"
#include "storage/policy/throttle.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace forebay::plan {

// Sums over the file's targets: the usual rates that were observed, and the rates of those targets
// whose k has been found. Rates are in bytes per second. Plain bytes: it travels within a vote.
struct TargetRates {
    double sum = 0;  // of the usual rates
    // The lowest usual rate; infinite if no rate is known.
    double slowest = std::numeric_limits<double>::infinity();
    std::int32_t targets = 0;  // targets whose usual rate is known
    std::int32_t slowest_target = 0;
    std::int32_t slowest_limit = 0;  // its k; 0: not found yet
    double slowest_found = 0;        // its rate with that k
    std::int32_t settled = 0;        // targets whose k has been found
    std::int32_t limits = 0;         // sum of their k
    double found = 0;                // sum of their rates with that k

    void add(TargetId target, const Throttle& throttle) noexcept;
    bool operator==(const TargetRates&) const noexcept = default;
};

// The sums of both. Contract: no target is in both.
[[nodiscard]] TargetRates merge(const TargetRates& a, const TargetRates& b) noexcept;

// Whether rank `local` of `node` reports the rates of `aggregator`'s targets. The aggregator itself
// does or, where aggregators share targets, the leader that carries the turns of the target's first
// aggregator. `shared`: share_targets() of all aggregators.
[[nodiscard]] bool tells_rates(const Aggregator& aggregator, NodeId node, LocalRank local,
                               bool shared) noexcept;

// A target is reported as slow when the others are more than this factor faster on average.
constexpr double slow_factor = 2;

[[nodiscard]] std::optional<SlowTarget> slow_target(const TargetRates& rates) noexcept;

// The average k and rate of the targets whose k was found. The target that is reported as slow is
// left out, since it says nothing about the others. Limit 0: no k was found.
[[nodiscard]] FoundLimit found_limit(const TargetRates& rates) noexcept;

}  // namespace forebay::plan
