// Parses the command line of `forebay simulate pool`.
#pragma once

#include "worlds/simulate/pool_experiment.hpp"

#include <string>
#include <vector>

namespace forebay::sim {

// As parse_options(), for the words after "pool".
[[nodiscard]] Result<PoolExperiment> parse_pool_options(const std::vector<std::string>& words);

// The usage text, with every key and its meaning.
[[nodiscard]] std::string pool_help();

}  // namespace forebay::sim
