// Opens, moves, syncs and closes one point's file, once, and says how long each took.
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

// This rank's durations, from a barrier before the open.
struct AccessDurations {
    std::int64_t began_ns = 0;     // by the clock of the node
    std::int64_t io_began_ns = 0;  // likewise
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
    std::vector<std::pair<std::string, std::string>>
        hints;  // as the MPI has them, asked for or not
};

// Collective. Each call's latency goes to `latency`.
[[nodiscard]] Result<AccessResult> move_data(BenchmarkSession& session, const AccessInput& work,
                                             measure::LatencyHistogram& latency);

}  // namespace forebay::bench
