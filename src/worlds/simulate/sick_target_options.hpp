// Checks the keys about a sick target, which two of the command lines have.
#pragma once

#include "worlds/simgrid/lustre.hpp"
#include "worlds/simulate/key_value_options.hpp"

#include <cstdint>

namespace forebay::sim {

// Refuses a target number that does not exist, and faults without a target.
[[nodiscard]] Result<void> check_sick_target(const adapters::TargetFaults& sickness,
                                             std::int64_t targets);

}  // namespace forebay::sim
