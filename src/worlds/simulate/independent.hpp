// A simulation of independent I/O, as IOR does it: each process makes one call after another, on
// one shared file or on its own, through its node's file system client. Results are the times of
// opening, transfer and closing.
#pragma once

#include "foundation/base/result.hpp"
#include "worlds/simgrid/platform.hpp"
#include "worlds/simgrid/world.hpp"
#include "worlds/simulate/background_load.hpp"

#include <cstdint>
#include <string>

namespace forebay::sim {

struct IndependentExperiment {
    adapters::MachinePlatform platform;

    std::int64_t processes = 0;     // 0: one for each rank
    std::int64_t per_node = 0;      // processes on a node; 0: one for each of its ranks
    bool shared = true;             // one file for all processes, else a file per process
    std::int32_t stripe_count = 1;  // of each file; 0: all targets
    std::int64_t transfer_bytes = 1 << 20;
    std::int64_t process_bytes = 64 << 20;
    bool read = false;
    bool same = false;    // all processes read the same bytes of one file
    bool direct = false;  // bypasses the client's cache, as O_DIRECT

    BackgroundLoad background_load;
    std::uint64_t seed = 1;
    adapters::TargetFaults sickness;
};

[[nodiscard]] std::int64_t processes_of(const IndependentExperiment& experiment) noexcept;
[[nodiscard]] std::int64_t per_node_of(const IndependentExperiment& experiment) noexcept;
// The number of nodes with processes.
[[nodiscard]] std::int64_t nodes_of(const IndependentExperiment& experiment) noexcept;
[[nodiscard]] std::int32_t stripes_of(const IndependentExperiment& experiment) noexcept;

// Times are virtual seconds. Barriers after opening and before closing separate the phases.
struct IndependentOutcome {
    adapters::WorldReport world;
    double open_seconds = 0;
    double moving_seconds = 0;  // for writes: until all bytes are at the targets
    double close_seconds = 0;
    std::int64_t bytes = 0;  // read or written by all processes
    // Bytes per second between the first quarter and the last eighth of the bytes: without ramp-up
    // and tail.
    double steady_rate = 0;
    std::string error;  // of a failed call; empty: none
};

// Errors are those of run_world().
[[nodiscard]] Result<IndependentOutcome> run(const IndependentExperiment& experiment);

[[nodiscard]] inline std::int64_t wrong(const IndependentOutcome& /*outcome*/) noexcept {
    return 0;
}
// As JSON, schema forebay.simulation.independent/1.
[[nodiscard]] std::string as_json(const IndependentExperiment& experiment,
                                  const IndependentOutcome& outcome);

}  // namespace forebay::sim
