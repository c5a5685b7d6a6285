// A simulated program that alternates between computing and bursts of output, run once with writes
// to the file system and once through the pools of its nodes. The result is how long it waits in
// each.
#pragma once

#include "foundation/base/result.hpp"
#include "pool/core/pool.hpp"
#include "worlds/simgrid/platform.hpp"
#include "worlds/simgrid/world.hpp"

#include <cstdint>
#include <string>

namespace forebay::sim {

struct PoolExperiment {
    adapters::MachinePlatform platform;

    // The program. A barrier precedes each burst. `writers` ranks, spread evenly, gather the data
    // of the ranks up to the next writer, and write it, each to its own files.
    std::int64_t burst_bytes = std::int64_t{1} << 30;  // of all ranks together
    double interval = 10;                              // seconds of computing before each burst
    std::int64_t steps = 4;                            // number of bursts
    std::int64_t writers = 0;                          // 0: every rank
    std::int64_t files = 1;                            // per writer and burst
    bool new_files = false;                            // each burst creates new files
    std::int32_t stripe_count = 0;                     // of each file; 0: all targets
    // Not 0: the program uses the output API. Each writer has a consecutive part of every file and
    // gets it from all ranks whose patches have elements there (worlds/simulate/transposition), in
    // pieces of `row_bytes`. A variable has so many levels.
    std::int64_t levels = 0;
    std::int64_t row_bytes = 256;

    // Before the first computing phase, every rank reads one whole file in pieces of 1 MiB; 0: no
    // file.
    std::int64_t input_bytes = 0;  // a multiple of a MiB
    // Nodes that fetch it for all (pool_readers); 0: each fetches for itself.
    std::int32_t readers = 0;
    double pass_rate = 1e9;  // bytes per second at which a core passes it on

    bool pooled_only = false;  // The run without the pool is left out.
    // Without the pool: a writer's requests in flight at a target.
    std::int32_t plain_in_flight = 8;

    pool::PoolOptions pool;
    // Bytes per second at which a daemon touches new memory: a tenth of the copy rate
    // (pool/policy/credit.hpp), which was 5 GB/s where that was measured
    // (docs/performance/pool.md).
    double touch_rate = 5e8;
    double job_end = 0;    // virtual seconds after the first computing phase starts; 0: unknown
    double deadline = 60;  // seconds, as the setting pool_deadline

    std::uint64_t seed = 1;
};

[[nodiscard]] std::int64_t ranks_of(const PoolExperiment& experiment) noexcept;
[[nodiscard]] std::int64_t writers_of(const PoolExperiment& experiment) noexcept;
// Bytes that a writer writes to one file in one burst.
[[nodiscard]] std::int64_t file_bytes_of(const PoolExperiment& experiment) noexcept;

// Times are virtual seconds.
struct PoolOutcome {
    struct Way {
        double seconds = 0;   // from before the first computing until the last rank has ended
        double exposed = 0;   // the part of it that was not computing
        double gathered = 0;  // the longest time that a writer gathered data
        double longest = 0;   // the longest burst of a writer
        std::int64_t requests = 0;
        double metadata = 0;      // in `exposed`: opening files before computing, and closing them
        double reading = 0;       // the longest time that a rank read its input
        std::int64_t input = 0;   // bytes that the file system delivered for it
        std::int64_t passed = 0;  // bytes that nodes passed on to each other
    };
    std::int64_t bytes = 0;  // of all bursts
    Way plain;
    Way pooled;
    double waited = 0;  // the longest time that a writer waited for room in the pool
    // Seconds from the program's end until all was drained; 0: it was by then.
    double drained_after = 0;
    std::int64_t drained = 0;      // bytes
    std::int64_t high = 0;         // peak memory of any node's pool
    std::int64_t file_high = 0;    // peak bytes of one file in a pool
    std::int64_t messages = 0;     // between daemons
    std::int64_t opened = 0;       // files that were opened, each counted on one node
    std::int64_t bytes_past = 0;   // written past the pool
    std::int64_t refused = 0;      // log entries that daemons refused, …
    std::int64_t failed_jobs = 0;  // … and failed drain jobs: both must be 0
    bool closed_early = false;     // the batch job would have ended
};

// Errors are those of run_world().
[[nodiscard]] Result<PoolOutcome> run(const PoolExperiment& experiment);

// The share of the time exposed without the pool that the pool hides.
[[nodiscard]] double hidden(const PoolOutcome& outcome) noexcept;
// Not 0: bytes did not arrive, or a daemon refused an entry.
[[nodiscard]] std::int64_t wrong(const PoolOutcome& outcome) noexcept;

// As JSON, schema forebay.simulation.pool/1.
[[nodiscard]] std::string as_json(const PoolExperiment& experiment, const PoolOutcome& outcome);

}  // namespace forebay::sim
