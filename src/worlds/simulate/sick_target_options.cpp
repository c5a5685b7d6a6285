// Checks the sick target's number, and that its faults have a target.
#include "worlds/simulate/sick_target_options.hpp"

#include <fmt/format.h>

namespace forebay::sim {

Result<void> check_sick_target(const adapters::TargetFaults& sickness, std::int64_t targets) {
    if (sickness.target >= targets) {
        return refuse(fmt::format("sick_target={}", sickness.target),
                      fmt::format("there are {}, and the first is 0", targets));
    }
    if (sickness.target < 0 && (sickness.slower != 1 || sickness.error_from >= 0)) {
        return refuse(sickness.slower != 1 ? fmt::format("sick_slower={}", sickness.slower)
                                           : fmt::format("sick_error_from={}", sickness.error_from),
                      "sick_target is missing");
    }
    return {};
}

}  // namespace forebay::sim
