// For tests: a result with one phase of four ranks, and IOR's real outputs to compare with.
#pragma once

#include "benchmarks/ior/results.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace forebay::ior {

inline std::string reference(const std::string& name) {
    std::ifstream in(std::string(FOREBAY_SOURCE_DIR) + "/tests/reference/ior/" + name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// The test of 01-ssf.txt: 4 tasks, -t 256k -b 4m -s 4.
inline ior::TestResult a_test() {
    ior::TestResult test;
    test.options.block_bytes = 4 << 20;
    test.options.segments = 4;
    test.options.test_file = "tf";
    test.geometry = geometry_of(test.options, 4).value_or(TestGeometry{});
    test.tasks_of_node = 4;
    test.path = "tf";
    return test;
}

inline PhaseResult a_phase(const IorOptions& options) {
    PhaseResult phase;
    phase.access = "write";
    phase.bytes = 64 << 20;
    for (int rank = 0; rank < 4; ++rank) {
        RankTimes times;
        times.open_begin = 0.001 * rank;
        times.open_end = times.open_begin + 0.0001;
        times.transfers_begin = times.open_end;
        times.transfers_end = times.transfers_begin + 0.1 + 0.1 * rank;
        times.close_begin = times.transfers_end;
        times.close_end = times.close_begin + 0.0002;
        times.transfers = 64;
        times.bytes = 16 << 20;
        times.stonewall_transfers = 32;
        times.stonewall_seconds = 0.5;
        phase.ranks.push_back(times);
        for (int i = 0; i < 64; ++i) {
            phase.latency.record(1'000'000 * (rank + 1));
        }
    }
    phase.stonewalled = true;
    summarise(phase, options, {"vm"});
    return phase;
}

}  // namespace forebay::ior
