// Ranges that may lie in pools always contain all bytes that were deposited.
#include "collective/plan/undrained.hpp"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace forebay::plan {
namespace {

Extent extent(std::int64_t begin, std::int64_t end) { return {Offset{begin}, Length{end - begin}}; }

TEST(UndrainedRanges, JoinsWhatTouches) {
    UndrainedRanges all;
    all.add(extent(10, 20));
    all.add(extent(30, 40));
    all.add(extent(50, 60));
    all.add(extent(20, 30));
    EXPECT_EQ(all.ranges(), (std::vector{extent(10, 40), extent(50, 60)}));
    all.add(extent(0, 100));
    EXPECT_EQ(all.ranges(), (std::vector{extent(0, 100)}));
    all.clear();
    all.add(extent(7, 7));
    EXPECT_TRUE(all.empty());
}

TEST(UndrainedRanges, IsTouchedByWhatSharesAByte) {
    UndrainedRanges all;
    all.add(extent(10, 20));
    EXPECT_FALSE(all.touches(extent(0, 10)));
    EXPECT_TRUE(all.touches(extent(0, 11)));
    EXPECT_TRUE(all.touches(extent(19, 30)));
    EXPECT_FALSE(all.touches(extent(20, 30)));
    EXPECT_FALSE(all.touches(extent(15, 15)));
}

TEST(UndrainedRanges, HoldsNoMoreRangesThanItsBoundAndForgetsNoByte) {
    std::mt19937 random{1};
    UndrainedRanges all;
    std::set<std::int64_t> bytes;
    for (int i = 0; i < 1000; ++i) {
        const std::int64_t begin = random() % 100'000;
        const std::int64_t end = begin + 1 + random() % 5;
        all.add(extent(begin, end));
        for (std::int64_t at = begin; at < end; ++at) {
            bytes.insert(at);
        }
        ASSERT_LE(all.ranges().size(), UndrainedRanges::ranges_max);
    }
    for (std::size_t i = 1; i < all.ranges().size(); ++i) {
        EXPECT_GT(all.ranges()[i].begin, all.ranges()[i - 1].end());
    }
    for (const std::int64_t at : bytes) {
        ASSERT_TRUE(all.touches(extent(at, at + 1))) << at;
    }
}

}  // namespace
}  // namespace forebay::plan
