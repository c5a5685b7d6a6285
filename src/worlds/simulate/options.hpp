// The words of a command line as an experiment.
#pragma once

#include "worlds/simulate/experiment.hpp"

#include <string>
#include <vector>

namespace forebay::sim {

// "platform=platforms/laptop.toml" first, then any of the keys in schema/simulator.toml. Errors
// (ErrorCode::argument) say which word and what is right.
[[nodiscard]] Result<CollectiveExperiment> parse_options(const std::vector<std::string>& words);

// The usage text, with every key and its meaning.
[[nodiscard]] std::string help();

}  // namespace forebay::sim
