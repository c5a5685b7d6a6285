// Load of other jobs on a file system, drawn from a seed: the factor by which each target is
// slower, or faster, than an idle one. A simulation sees one moment; the moments of one seed form a
// time series. The autocorrelation of the drift and the slowness of stragglers are in
// schema/simulator.toml. Pure.
// schema/simulator.toml. Pure.
#pragma once

#include "simulate/background_load.hpp"

#include <cstdint>
#include <vector>

namespace forebay::sim {

// `drift` and `noise` are standard deviations of the logarithm of a target's rate.
struct BackgroundLoad {
    double drift = 0;       // common to all targets; an AR(1) process over moments
    double noise = 0;       // independent for each target and moment
    double stragglers = 0;  // the share of targets that are stragglers at this moment
    std::int64_t moment = 0;
};

// The factor on the times of each target.
[[nodiscard]] std::vector<double> slowness(const BackgroundLoad& background_load,
                                           std::uint64_t seed, std::int64_t targets);

}  // namespace forebay::sim
