// Parses the command line of `forebay simulate independent`.
#pragma once

#include "worlds/simulate/independent.hpp"

#include <string>
#include <vector>

namespace forebay::sim {

// As parse_options(), for the words after "independent".
[[nodiscard]] Result<IndependentExperiment> parse_independent_options(
    const std::vector<std::string>& words);

// The usage text, with every key and its meaning.
[[nodiscard]] std::string independent_help();

}  // namespace forebay::sim
