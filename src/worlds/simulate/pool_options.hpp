// The words of a command line as an experiment with the pool.
#pragma once

#include "worlds/simulate/pool_experiment.hpp"

#include <string>
#include <vector>

namespace forebay::sim {

// As parse_options(), of what stands behind the word "pool".
[[nodiscard]] Result<PoolExperiment> parse_pool_options(const std::vector<std::string>& words);

// The usage text, with every key and its meaning.
[[nodiscard]] std::string pool_help();

}  // namespace forebay::sim
