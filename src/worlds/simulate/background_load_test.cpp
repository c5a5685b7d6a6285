// The load is determined by the seed, and as strong as its options say.
#include "worlds/simulate/background_load.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace forebay::sim {
namespace {

constexpr std::int64_t targets = 1000;

double mean_log(const std::vector<double>& factors) {
    double sum = 0;
    for (const double one : factors) {
        sum += std::log(one);
    }
    return sum / static_cast<double>(factors.size());
}

TEST(BackgroundLoad, WithoutAnyAllTargetsAreAsTheyAre) {
    EXPECT_EQ(slowness({}, 7, 3), (std::vector<double>{1, 1, 1}));
}

TEST(BackgroundLoad, TheSameSeedAndMomentGiveTheSame) {
    const BackgroundLoad background_load{0.1, 0.1, 0.1, 5};
    EXPECT_EQ(slowness(background_load, 1, targets), slowness(background_load, 1, targets));
    EXPECT_NE(slowness(background_load, 1, targets), slowness(background_load, 2, targets));
    BackgroundLoad later = background_load;
    later.moment = 6;
    EXPECT_NE(slowness(background_load, 1, targets), slowness(later, 1, targets));
}

TEST(BackgroundLoad, DriftIsTheSameForAllTargetsAndChangesSlowly) {
    double step = 0;
    double size = 0;
    constexpr int moments = 400;
    double before = 0;
    for (int moment = 0; moment < moments; ++moment) {
        const std::vector<double> factors = slowness({0.2, 0, 0, moment}, 3, 4);
        EXPECT_EQ(*std::ranges::max_element(factors), *std::ranges::min_element(factors));
        const double level = std::log(factors.front());
        step += moment == 0 ? 0 : (level - before) * (level - before);
        size += level * level;
        before = level;
    }
    EXPECT_NEAR(std::sqrt(size / moments), 0.2, 0.06);
    EXPECT_NEAR(std::sqrt(step / moments), 0.2 * std::sqrt(2 * (1 - drift_kept)), 0.02);
}

TEST(BackgroundLoad, NoiseIsOfEachTarget) {
    const std::vector<double> factors = slowness({0, 0.1, 0, 0}, 3, targets);
    const double mean = mean_log(factors);
    double square = 0;
    for (const double one : factors) {
        square += (std::log(one) - mean) * (std::log(one) - mean);
    }
    EXPECT_NEAR(mean, 0, 0.02);
    EXPECT_NEAR(std::sqrt(square / targets), 0.1, 0.01);
}

TEST(BackgroundLoad, SomeTargetsStraggle) {
    const std::vector<double> factors = slowness({0, 0, 0.2, 0}, 3, targets);
    const auto slow = std::ranges::count_if(factors, [](double one) { return one != 1; });
    EXPECT_NEAR(static_cast<double>(slow), 200, 40);
    EXPECT_LT(*std::ranges::max_element(factors), 3);
    EXPECT_GE(*std::ranges::max_element(factors), 2.5);
}

}  // namespace
}  // namespace forebay::sim
