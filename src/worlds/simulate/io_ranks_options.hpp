// Parses the command line of `forebay simulate io-ranks`.
#pragma once

#include "worlds/simulate/io_ranks_experiment.hpp"

#include <string>
#include <vector>

namespace forebay::sim {

// As parse_options(), for the words after "io-ranks"; "variant=NAME" is one of them.
[[nodiscard]] Result<IoRanksExperiment> parse_io_ranks_options(
    const std::vector<std::string>& words);

// The usage text, with every key and its meaning.
[[nodiscard]] std::string io_ranks_help();

}  // namespace forebay::sim
