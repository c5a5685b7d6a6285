// Estimates of one test and of several; absurd sizes must not make them negative.
#include "benchmarks/ior/estimate.hpp"

#include "foundation/base/bytes.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace forebay::ior {
namespace {

PlannedTest planned(const IorOptions& options) {
    return {options, geometry_of(options, 2).value_or(TestGeometry{})};
}

IorOptions written(const std::string& name, bool keeps) {
    IorOptions o;
    o.write = true;
    o.test_file = name;
    o.keep_file = keeps;
    return o;
}

TEST(Estimate, of_a_script_is_of_all_its_tests) {
    const std::vector<PlannedTest> tests{planned(written("a", true)), planned(written("b", false)),
                                         planned(written("a", false)),
                                         planned(written("b", false))};
    const auto all = estimate_of(tests);
    EXPECT_EQ(all.bytes_written, 8 * mib);
    EXPECT_EQ(all.files, 4);
    EXPECT_EQ(all.bytes_kept_max, 4 * mib);
    EXPECT_FALSE(all.seconds);
    EXPECT_FALSE(all.seconds_min);
}

TEST(Estimate, a_wall_is_the_most_and_not_the_least_time) {
    IorOptions o;
    o.stonewall_seconds = 300;
    EXPECT_EQ(estimate_of(planned(o)).seconds, 600);
    EXPECT_FALSE(estimate_of(planned(o)).seconds_min);
    o.duration_min_seconds = 10;
    o.delay_between_tests = 3;
    EXPECT_EQ(estimate_of(planned(o)).seconds, 603);
    EXPECT_EQ(estimate_of(planned(o)).seconds_min, 23);
    o.wear_out = true;
    EXPECT_FALSE(estimate_of(planned(o)).seconds);
    EXPECT_EQ(estimate_of(planned(o)).seconds_min, 23);
}

TEST(Estimate, of_nonsense_is_as_large_as_can_be) {
    IorOptions o = written("a", true);
    o.multi_file = true;
    o.file_per_process = true;
    o.repetitions = std::numeric_limits<std::int64_t>::max();
    const auto one = estimate_of(planned(o));
    EXPECT_EQ(one.bytes_written, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(one.files, std::numeric_limits<std::int64_t>::max());
    const std::vector<PlannedTest> twice{planned(o), planned(o)};
    EXPECT_EQ(estimate_of(twice).bytes_kept_max, std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace forebay::ior
