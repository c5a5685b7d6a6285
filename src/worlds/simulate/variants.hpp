// The published collective I/O algorithms by name, as settings of the engine.
#pragma once

#include "worlds/simulate/experiment.hpp"

#include <string>

namespace forebay::sim {

// `name` is "forebay", "original", "placement", "earth(wr:2)" or "earth(wr,ex:2)" (with any k).
// Overwrites the settings that define the variant; keeps the number of aggregators.
[[nodiscard]] Result<void> apply_variant(const std::string& name, CollectiveExperiment& experiment);

}  // namespace forebay::sim
