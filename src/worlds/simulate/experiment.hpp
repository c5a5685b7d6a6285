// A simulated collective experiment: from a platform, an access pattern and the engine's settings
// to times and counts.
#pragma once

#include "foundation/base/result.hpp"
#include "storage/policy/tuning.hpp"
#include "worlds/simgrid/platform.hpp"
#include "worlds/simgrid/world.hpp"

#include <cstdint>
#include <string>

namespace forebay::sim {

// HPIO's pattern (Ching et al., 2006): the ranks' regions interleave, `spacing` bytes apart.
struct HpioRegions {
    std::int64_t count = 1024;
    std::int64_t bytes = 1024;
    std::int64_t spacing = 0;
};

struct CollectiveExperiment {
    adapters::MachinePlatform platform;
    std::string variant = "forebay";  // name for the output only
    plan::Tuning tuning;
    bool ranks_alone = false;  // every rank is a node of its own
    adapters::RankMapping mapping = adapters::RankMapping::by_block;
    bool blocking = false;  // I/O is synchronous: the rank does nothing else
    HpioRegions regions;
    std::int32_t per_node = 1;  // aggregators per node
    std::int32_t calls = 1;
    bool read = false;
    bool verify = false;  // data exists, and is compared with what each rank wrote
    std::uint64_t seed = 1;
    adapters::TargetFaults sickness;
};

[[nodiscard]] std::int64_t ranks_of(const CollectiveExperiment& experiment) noexcept;

struct ExperimentOutcome {
    adapters::WorldReport world;
    double seconds = 0;        // from before the first call until the last rank has closed
    double open_seconds = 0;   // the longest time of a rank in opening, …
    double close_seconds = 0;  // … and in closing; both part of `seconds`
    std::int64_t bytes = 0;    // acknowledged, all ranks
    std::int64_t wrong = 0;    // bytes that a verification found to differ
    std::int64_t rounds = 0;
    // Lower bound: the slowest of network, links and targets, busy all the time.
    double bound_seconds = 0;
    std::int32_t slow_target = -1;  // a straggler that was found; -1: none
    std::int32_t slow_limit = 0;    // its k
    std::string error;              // of the collective calls; empty: none
};

// Errors are those of run_world().
[[nodiscard]] Result<ExperimentOutcome> run(const CollectiveExperiment& experiment);

[[nodiscard]] inline std::int64_t wrong(const ExperimentOutcome& outcome) noexcept {
    return outcome.wrong;
}
// As JSON, schema forebay.simulation/1.
[[nodiscard]] std::string as_json(const CollectiveExperiment& experiment,
                                  const ExperimentOutcome& outcome);

}  // namespace forebay::sim
