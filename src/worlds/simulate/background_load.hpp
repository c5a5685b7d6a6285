// Load of other jobs on a file system, from a seed: by how much each target is slower, or faster,
// than it is by itself. A simulation is one moment of it; moments of one seed follow one another.
// How much of it is kept from one moment to the next, and how slow stragglers are:
// schema/simulator.toml. Pure.
#pragma once

#include "simulate/background_load.hpp"

#include <cstdint>
#include <vector>

namespace forebay::sim {

// Shares are standard deviations of the logarithm of a target's rate.
struct BackgroundLoad {
    double drift = 0;       // of all targets together; changes slowly from moment to moment
    double noise = 0;       // of each target, for this moment alone
    double stragglers = 0;  // the share of targets that are slower by far at this moment
    std::int64_t moment = 0;
};

// By which each target's times are multiplied.
[[nodiscard]] std::vector<double> slowness(const BackgroundLoad& background_load,
                                           std::uint64_t seed, std::int64_t targets);

}  // namespace forebay::sim
