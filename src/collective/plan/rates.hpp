// How fast a file's targets are, and what follows from it: which one is told to be slow, and which
// k is remembered.
#pragma once

#include "collective/plan/plan.hpp"
#include "foundation/base/slow_target.hpp"
#include "storage/policy/throttle.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace forebay::plan {

// The observed rates of the file's targets, and of those whose k has been found. Rates in bytes per
// second. Plain bytes: it travels with a vote.
struct TargetRates {
    double sum = 0;  // of the usual ones
    double slowest = std::numeric_limits<double>::infinity();
    std::int32_t targets = 0;  // whose usual rate is known
    std::int32_t slowest_target = 0;
    std::int32_t slowest_limit = 0;  // its k; 0: not found yet
    double slowest_found = 0;        // its rate with that
    std::int32_t settled = 0;        // targets whose k has been found
    std::int32_t limits = 0;         // the sum of their k
    double found = 0;                // and of their rates with it

    void add(TargetId target, const Throttle& throttle) noexcept;
    bool operator==(const TargetRates&) const noexcept = default;
};

// The rates of both together. Contract: no target is in both.
[[nodiscard]] TargetRates merge(const TargetRates& a, const TargetRates& b) noexcept;

// Whether the rank that is `local` on `node` is the one to tell the rates of `aggregator`'s
// targets: the aggregator itself; where several share a target, the leader who carries the turns of
// the first of them. `shared`: share_targets() of all aggregators.
[[nodiscard]] bool tells_rates(const Aggregator& aggregator, NodeId node, LocalRank local,
                               bool shared) noexcept;

// A target is told to be slow when the others are this much faster on average.
constexpr double slow_factor = 2;

[[nodiscard]] std::optional<SlowTarget> slow_target(const TargetRates& rates) noexcept;

// The average of the targets without the one reported as slow, which says nothing about the others.
// Limit 0: nothing was found.
[[nodiscard]] FoundLimit found_limit(const TargetRates& rates) noexcept;

}  // namespace forebay::plan
