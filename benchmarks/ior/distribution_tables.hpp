// The tables that IOR lacks: distributions over transfers, ranks and repetitions.
#pragma once

#include "benchmarks/ior/results.hpp"

#include <string>

namespace forebay::ior {

// Latency percentiles, first and last rank done, spread of ranks, medians over repetitions, and
// remarks on them. Empty if no test has any of these.
[[nodiscard]] std::string distribution_text(const RunResult& run);

}  // namespace forebay::ior
