// The words of a command line as an independent experiment.
#pragma once

#include "worlds/simulate/independent.hpp"

#include <string>
#include <vector>

namespace forebay::sim {

// As parse_options(), of what stands behind the word "independent".
[[nodiscard]] Result<IndependentExperiment> parse_independent_options(
    const std::vector<std::string>& words);

// The usage text, with every key and its meaning.
[[nodiscard]] std::string independent_help();

}  // namespace forebay::sim
