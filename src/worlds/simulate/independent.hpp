// Processes that read or write by themselves, as IOR does: one call after the other, into one file
// or a file each, through the file system's client of their node. Gives the times of opening,
// moving and closing.
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

    std::int64_t processes = 0;     // 0: as many as there are ranks
    std::int64_t per_node = 0;      // of them; 0: as many as a node has ranks
    bool shared = true;             // one file for all; else a file for each
    std::int32_t stripe_count = 1;  // of a file; 0: all targets
    std::int64_t transfer_bytes = 1 << 20;
    std::int64_t process_bytes = 64 << 20;
    bool read = false;
    bool same = false;    // all read the same bytes of one file
    bool direct = false;  // past the client's memory

    BackgroundLoad background_load;
    std::uint64_t seed = 1;
    adapters::TargetFaults sickness;
};

[[nodiscard]] std::int64_t processes_of(const IndependentExperiment& experiment) noexcept;
[[nodiscard]] std::int64_t per_node_of(const IndependentExperiment& experiment) noexcept;
// That have processes.
[[nodiscard]] std::int64_t nodes_of(const IndependentExperiment& experiment) noexcept;
[[nodiscard]] std::int32_t stripes_of(const IndependentExperiment& experiment) noexcept;

// Virtual seconds, and bytes. All meet after opening and before closing, so that these parts are
// one after the other.
struct IndependentOutcome {
    adapters::WorldReport world;
    double open_seconds = 0;
    double moving_seconds = 0;  // of writes: until all is at the targets
    double close_seconds = 0;
    std::int64_t bytes = 0;  // read or written, all processes
    // Bytes per second between the first quarter and the last eighth of the bytes: without what
    // beginning and ending cost.
    double steady_rate = 0;
    std::string error;  // of a call; empty: none
};

// Error: as of run_world().
[[nodiscard]] Result<IndependentOutcome> run(const IndependentExperiment& experiment);

[[nodiscard]] inline std::int64_t wrong(const IndependentOutcome& /*outcome*/) noexcept {
    return 0;
}
// As JSON, schema forebay.simulation.independent/1.
[[nodiscard]] std::string as_json(const IndependentExperiment& experiment,
                                  const IndependentOutcome& outcome);

}  // namespace forebay::sim
