// Estimates of one test, and of all tests of a script, made before anything is touched.
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
// Estimates tests that run in sequence. Files that are kept exist during later tests; files of the
// same name are counted once.
[[nodiscard]] measure::RunEstimate estimate_of(std::span<const PlannedTest> tests);

}  // namespace forebay::ior
