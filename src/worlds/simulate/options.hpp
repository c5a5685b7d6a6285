// Parses the command line of `forebay simulate` for a collective experiment.
#pragma once

#include "worlds/simulate/experiment.hpp"

#include <string>
#include <vector>

namespace forebay::sim {

// The first word is "platform=platforms/laptop.toml" or the like, the others are keys of
// schema/simulator.toml. Errors (ErrorCode::argument) name the word and what is valid.
[[nodiscard]] Result<CollectiveExperiment> parse_options(const std::vector<std::string>& words);

// The usage text, with every key and its meaning.
[[nodiscard]] std::string help();

}  // namespace forebay::sim
