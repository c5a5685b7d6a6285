// Checks keys about a target that is ill, which two of the command lines have.
#pragma once

#include "worlds/simgrid/lustre.hpp"
#include "worlds/simulate/key_value_options.hpp"

#include <cstdint>

namespace forebay::sim {

// Refuses a target that is none of so many, and what is said of none.
[[nodiscard]] Result<void> check_sick_target(const adapters::TargetFaults& sickness,
                                             std::int64_t targets);

}  // namespace forebay::sim
