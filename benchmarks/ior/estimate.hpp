// Estimates, before anything is touched: of one test, and of a script's tests together.
#pragma once

#include "benchmarks/ior/geometry.hpp"
#include "benchmarks/ior/options.hpp"
#include "benchmarks/measure/budget.hpp"

#include <span>

namespace forebay::ior {

struct Planned {
    Options options;
    Geometry geometry;
};

[[nodiscard]] measure::Estimate estimate_of(const Planned& test);
// One after the other. Files that are kept are there during the later ones; the same name is the
// same file.
[[nodiscard]] measure::Estimate estimate_of(std::span<const Planned> tests);

}  // namespace forebay::ior
