// What IOR does not print, after its summary: how transfers, ranks and repetitions are distributed.
#pragma once

#include "benchmarks/ior/results.hpp"

#include <string>

namespace forebay::ior {

// Latency percentiles, first and last done, spread of ranks, medians of repetitions, and what is to
// be considered of them. Empty: no test has any of that.
[[nodiscard]] std::string distribution_text(const RunResult& run);

}  // namespace forebay::ior
