// A simulated program that alternates between computing and bursts of output, and one of four ways
// in which its ranks' patches come to the file system. `io_ranks` is the overlapped storage of 2019
// (doi 10.7544/issn1000-1239.2019.20170906): dedicated I/O ranks, spread over groups of ranks,
// collect all files of a burst and write them while the program computes.
#pragma once

#include "foundation/base/result.hpp"
#include "io_ranks/policy/roles.hpp"
#include "pool/core/pool.hpp"
#include "worlds/simgrid/platform.hpp"
#include "worlds/simulate/pool_experiment.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::sim {

enum class OutputVariant {
    gather,    // rank 0 collects every file and writes it, all others wait
    io_ranks,  // I/O ranks collect a burst, then write it; who is not collected yet waits
    pool,      // every rank writes its own files into its node's pool
    output,    // the output API transposes patches to a few writers a node, through the pool
};

[[nodiscard]] const char* name_of(OutputVariant variant) noexcept;
// Error (ErrorCode::argument): no variant has that name.
[[nodiscard]] Result<OutputVariant> output_variant_of(std::string_view name);

struct IoRanksExperiment {
    adapters::MachinePlatform platform;
    OutputVariant variant = OutputVariant::io_ranks;
    // Ranks that compute; 0: as many as the nodes hold (besides I/O ranks). `pool` and `output`
    // round them up to whole nodes.
    std::int64_t ranks = 0;
    std::int64_t io_ranks = 2;  // besides the above, in that variant only
    std::int64_t spread = 1;    // groups of ranks that have I/O ranks

    std::int64_t burst_bytes = 4'500'000'000;  // of all ranks together
    std::int64_t files = 3;                    // of a burst, of equal size
    double interval = 10;                      // seconds of computing before each burst
    std::int64_t steps = 3;                    // bursts
    std::int32_t stripe_count = 0;             // of a file; 0: all targets
    std::int64_t row_bytes = 256;              // of a patch that are neighbours in the file
    std::int64_t levels = 50;                  // of a variable; for `output`
    std::int32_t plain_in_flight = 8;          // requests of a rank at a target
    std::int64_t writers_per_node = 4;         // for `output`

    pool::PoolOptions pool;
    double touch_rate = 5e8;  // as in PoolExperiment
    std::uint64_t seed = 1;
};

[[nodiscard]] std::int64_t ranks_of(const IoRanksExperiment& experiment) noexcept;
[[nodiscard]] std::int64_t nodes_of(const IoRanksExperiment& experiment) noexcept;
// The world that the I/O ranks are cut out of.
[[nodiscard]] io_ranks::WorldShape shape_of(const IoRanksExperiment& experiment) noexcept;
// The experiment behind `pool` and `output`.
[[nodiscard]] PoolExperiment pool_experiment_of(const IoRanksExperiment& experiment);

// Times are virtual seconds.
struct IoRanksOutcome {
    double seconds = 0;    // from before the first computing until the last compute rank has ended
    double exposed = 0;    // the part of it that was not computing
    double metadata = 0;   // in `exposed`: opening files before the program, and closing them
    double collected = 0;  // the longest time that a rank collected one burst
    double written = 0;    // the longest time that it wrote one (`gather`, `io_ranks`)
    // The longest time in all that a rank waited until its I/O rank had written the last burst, or
    // until its node's pool had room.
    double waited = 0;
    double written_after = 0;  // from the program's end until all was with the file system
    std::int64_t bytes = 0;    // of all bursts
    std::int64_t arrived = 0;  // bytes that the file system has
    std::int64_t requests = 0;
    std::int64_t high = 0;   // peak memory of any node's pool
    std::int64_t wrong = 0;  // of the pool: refused entries and failed drain jobs
};

// Errors are those of run_world().
[[nodiscard]] Result<IoRanksOutcome> run(const IoRanksExperiment& experiment);

// Not 0: bytes did not arrive, or a daemon refused an entry.
[[nodiscard]] std::int64_t wrong(const IoRanksOutcome& outcome) noexcept;

// As JSON, schema forebay.simulation.io_ranks/1.
[[nodiscard]] std::string as_json(const IoRanksExperiment& experiment,
                                  const IoRanksOutcome& outcome);

}  // namespace forebay::sim
