// A program that computes and puts out, again and again, on a simulated machine: once waiting until
// its output is with the file system, and once through the pool of each node. How long does it
// wait?
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

    // The program. All ranks meet before each burst. `writers` of them, spread evenly, collect what
    // the ranks behind them have, and write it, each to files of its own.
    std::int64_t burst_bytes = std::int64_t{1} << 30;  // of all ranks together
    double interval = 10;                              // seconds of computing before each burst
    std::int64_t steps = 4;                            // bursts
    std::int64_t writers = 0;                          // 0: every rank
    std::int64_t files = 1;                            // of each writer, in each burst
    bool new_files = false;                            // each burst has files of its own
    std::int32_t stripe_count = 0;                     // targets of a file; 0: all

    // Before it first computes, every rank reads one file whole, a MiB at a time. 0: there is none.
    std::int64_t input_bytes = 0;  // a multiple of a MiB
    std::int32_t readers = 0;      // nodes that fetch it for all; 0: each for itself
    double pass_rate = 1e9;        // bytes per second of a core that passes it on

    // Without the pool: requests that a writer has at a target at a time.
    std::int32_t plain_in_flight = 8;

    pool::PoolOptions pool;
    // Bytes per second in which a daemon gets memory that nobody has touched: a tenth of copying
    // (pool/policy/credit.hpp), which was 5 GB/s where that was measured
    // (docs/performance/pool.md).
    double touch_rate = 5e8;
    double job_end = 0;    // virtual seconds from when the program first computes; 0: nobody knows
    double deadline = 60;  // seconds; as the setting pool_deadline

    std::uint64_t seed = 1;
};

[[nodiscard]] std::int64_t ranks_of(const PoolExperiment& experiment) noexcept;
[[nodiscard]] std::int64_t writers_of(const PoolExperiment& experiment) noexcept;
// Bytes that one writer puts into one file in one burst.
[[nodiscard]] std::int64_t file_bytes_of(const PoolExperiment& experiment) noexcept;

// Virtual seconds, and bytes.
struct PoolOutcome {
    struct Way {
        double seconds = 0;   // from before the first computing until the last rank has ended
        double exposed = 0;   // of these, what was not computing
        double gathered = 0;  // of these, the most that a writer collected for
        double longest = 0;   // burst, of any writer
        std::int64_t requests = 0;
        double reading = 0;       // seconds: the most that a rank read its input for
        std::int64_t input = 0;   // bytes that the file system gave for it
        std::int64_t passed = 0;  // bytes that nodes passed on to each other
    };
    std::int64_t bytes = 0;  // of all bursts
    Way plain;
    Way pooled;
    double waited = 0;             // the most that a writer waited for room in the pool
    double drained_after = 0;      // the program's end; 0: all was drained by then
    std::int64_t drained = 0;      // bytes
    std::int64_t high = 0;         // the most memory of any node's pool
    std::int64_t file_high = 0;    // the most that one file had in a pool
    std::int64_t messages = 0;     // between daemons
    std::int64_t opened = 0;       // files, each by one node
    std::int64_t bytes_past = 0;   // that went past the pool
    std::int64_t refused = 0;      // entries of logs, and …
    std::int64_t failed_jobs = 0;  // … jobs of draining: of both there are none, or it is a fault
    bool closed_early = false;     // the batch job would have ended
};

// Error: as of run_world().
[[nodiscard]] Result<PoolOutcome> run(const PoolExperiment& experiment);

// The share of the exposed time without the pool that the pool saves.
[[nodiscard]] double hidden(const PoolOutcome& outcome) noexcept;
// Not 0: bytes did not arrive, or the daemons refused what they were given.
[[nodiscard]] std::int64_t wrong(const PoolOutcome& outcome) noexcept;

// As JSON, schema forebay.simulation.pool/1.
[[nodiscard]] std::string as_json(const PoolExperiment& experiment, const PoolOutcome& outcome);

}  // namespace forebay::sim
