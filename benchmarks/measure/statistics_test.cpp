// Compares with tables of the binomial distribution and with small examples.
#include "benchmarks/measure/statistics.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace forebay::measure {
namespace {

TEST(Statistics, are_those_of_ior) {
    const std::vector<double> values{831.28, 1062.95, 835.53};
    const SampleSummary made = summarise(values);
    EXPECT_NEAR(made.mean, 909.92, 0.005);
    EXPECT_NEAR(made.deviation, 108.22, 0.005);
    EXPECT_DOUBLE_EQ(made.max, 1062.95);
    EXPECT_DOUBLE_EQ(median(values), 835.53);
    EXPECT_EQ(summarise({}).count, 0U);
}

TEST(Statistics, median_of_an_even_number_lies_between) {
    EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
    EXPECT_DOUBLE_EQ(median(std::vector<double>{}), 0.0);
    EXPECT_DOUBLE_EQ(quantile(std::vector<double>{1, 2, 3, 4, 5}, 0.25), 2.0);
}

// Order statistics from the usual tables: n = 10 → 2nd and 9th (97.9 %), n = 20 → 6th and 15th.
TEST(Statistics, interval_is_that_of_the_tables) {
    std::vector<double> ten(10);
    std::iota(ten.begin(), ten.end(), 1.0);
    const ConfidenceInterval at_ten = median_interval(ten);
    EXPECT_DOUBLE_EQ(at_ten.lower, 2.0);
    EXPECT_DOUBLE_EQ(at_ten.upper, 9.0);
    EXPECT_NEAR(at_ten.coverage, 0.9785, 1e-4);
    std::vector<double> twenty(20);
    std::iota(twenty.begin(), twenty.end(), 1.0);
    EXPECT_DOUBLE_EQ(median_interval(twenty).lower, 6.0);
    EXPECT_DOUBLE_EQ(median_interval(twenty).upper, 15.0);
}

// 0.5^n underflows to 0 from n = 1075 on.
TEST(Statistics, interval_of_many_values_is_narrow) {
    std::vector<double> many(10'000);
    std::iota(many.begin(), many.end(), 1.0);
    const ConfidenceInterval made = median_interval(many);
    EXPECT_NEAR(made.lower, 4902, 2);
    EXPECT_NEAR(made.upper, 5099, 2);
    EXPECT_NEAR(made.coverage, 0.951, 0.002);
}

TEST(Statistics, few_values_say_that_they_are_few) {
    const ConfidenceInterval three = median_interval(std::vector<double>{3, 1, 2});
    EXPECT_DOUBLE_EQ(three.lower, 1.0);
    EXPECT_DOUBLE_EQ(three.upper, 3.0);
    EXPECT_NEAR(three.coverage, 0.75, 1e-12);
    EXPECT_DOUBLE_EQ(median_interval(std::vector<double>{7}).coverage, 0.0);
}

}  // namespace
}  // namespace forebay::measure
