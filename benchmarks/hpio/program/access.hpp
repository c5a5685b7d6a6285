// Opens the file of a point, reads or writes, syncs and closes it once, and measures each step.
#pragma once

#include "benchmarks/hpio/command.hpp"
#include "benchmarks/measure/histogram.hpp"
#include "benchmarks/session/session.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench {

// This rank's durations, starting at a barrier before the open.
struct AccessDurations {
    std::int64_t began_ns = 0;     // time on the node's clock
    std::int64_t io_began_ns = 0;  // time on the node's clock
    std::int64_t open_ns = 0;
    std::int64_t io_ns = 0;
    std::int64_t sync_ns = 0;
    std::int64_t close_ns = 0;
    std::int64_t total_ns = 0;
};

struct AccessInput {
    const hpio::HpioCommand& request;
    const hpio::Point& point;
    const hpio::ResolvedPattern& job;
    std::string path;
    std::span<std::byte> memory;
};

struct AccessResult {
    AccessDurations durations;
    // Hints as the MPI reports them, requested or not.
    std::vector<std::pair<std::string, std::string>> hints;
};

// Collective. Records the latency of each call in `latency`.
[[nodiscard]] Result<AccessResult> move_data(BenchmarkSession& session, const AccessInput& work,
                                             measure::LatencyHistogram& latency);

}  // namespace forebay::bench
