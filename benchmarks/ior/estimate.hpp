// Estimates, before anything is touched: of one test, and of a script's tests together.
#pragma once

#include "benchmarks/ior/geometry.hpp"
#include "benchmarks/ior/options.hpp"
#include "benchmarks/measure/budget.hpp"

#include <span>

namespace forebay::ior {

struct PlannedTest {
    IorOptions options;
    TestGeometry geometry;
};

[[nodiscard]] measure::RunEstimate estimate_of(const PlannedTest& test);
// One after the other. Files that are kept are there during the later ones; the same name is the
// same file.
[[nodiscard]] measure::RunEstimate estimate_of(std::span<const PlannedTest> tests);

}  // namespace forebay::ior
