// The published algorithms by name, as settings of the engine.
#pragma once

#include "worlds/simulate/experiment.hpp"

#include <string>

namespace forebay::sim {

// "forebay", "original", "placement", "earth(wr:2)" or "earth(wr,ex:2)" (any k). Overwrites the
// settings that the variant consists of; the number of aggregators is left as it is.
[[nodiscard]] Result<void> apply_variant(const std::string& name, CollectiveExperiment& experiment);

}  // namespace forebay::sim
