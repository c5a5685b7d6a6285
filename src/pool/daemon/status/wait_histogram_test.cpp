// Tests into which bucket a wait falls.
#include "pool/daemon/status/wait_histogram.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace forebay::daemon {
namespace {

TEST(WaitHistogramTest, BoundsGrowFromATenthOfAMillisecondToHundredSeconds) {
    EXPECT_EQ(wait_bounds_ns.front(), 100'000);
    EXPECT_EQ(wait_bounds_ns.back(), 100'000'000'000);
    for (std::size_t i = 3; i < wait_bounds_ns.size(); ++i) {
        EXPECT_EQ(wait_bounds_ns.at(i), 10 * wait_bounds_ns.at(i - 3)) << "three a decade";
    }
}

TEST(WaitHistogramTest, ABoundBelongsToTheBucketBelowIt) {
    WaitHistogram waits;
    waits.add(0);
    waits.add(wait_bounds_ns.front());
    waits.add(wait_bounds_ns.front() + 1);
    waits.add(wait_bounds_ns.back());
    waits.add(wait_bounds_ns.back() + 1);
    waits.add(std::numeric_limits<std::int32_t>::max());  // 2.1 s
    EXPECT_EQ(waits.counts.at(0), 2);
    EXPECT_EQ(waits.counts.at(1), 1);
    EXPECT_EQ(waits.counts.at(14), 1);
    EXPECT_EQ(waits.counts.at(18), 1);
    EXPECT_EQ(waits.counts.at(19), 1);
    EXPECT_EQ(waits.total_ns,
              2 * wait_bounds_ns.front() + 2 * wait_bounds_ns.back() + 2 + 2'147'483'647);
}

TEST(WaitHistogramTest, KindsAreCountedApart) {
    WaitHistograms waits;
    waits.add(WaitKind::sync, 300'000);
    EXPECT_EQ(waits.of(WaitKind::sync).counts.at(2), 1);
    EXPECT_EQ(waits.of(WaitKind::open), WaitHistogram{});
    EXPECT_EQ(waits.of(WaitKind::drain), WaitHistogram{});
}

}  // namespace
}  // namespace forebay::daemon
