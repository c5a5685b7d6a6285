// Tests which replicas leave, by cases and against properties.
#include "tier/policy/evict_order.hpp"

#include "tier/policy/heat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace forebay::tier {
namespace {

constexpr std::int64_t hour = heat_half_life_ns;
constexpr std::int64_t now = 1000 * hour;

EvictCandidate clean(std::int64_t bytes, double heat, std::int64_t used_ns = now) {
    return {.bytes = bytes, .clean = true, .heat = heat, .used_ns = used_ns};
}

TEST(EvictOrder, ColdestGoFirstUntilTheLowWaterMark) {
    const std::array files{clean(10, 3), clean(10, 1), clean(10, 2), clean(10, 4)};
    const EvictSituation full{.now_ns = now, .used_bytes = 40, .high_bytes = 35, .low_bytes = 20};
    EXPECT_EQ(to_evict(files, full), (std::vector<std::size_t>{1, 2}));
    EvictSituation below = full;
    below.high_bytes = 40;
    EXPECT_TRUE(to_evict(files, below).empty());
}

TEST(EvictOrder, HeatAges) {
    const std::array files{clean(10, 8, now - 4 * hour), clean(10, 1)};
    EXPECT_EQ(to_evict(files, {.now_ns = now, .used_bytes = 20, .low_bytes = 10}),
              std::vector<std::size_t>{0})
        << "8 uses four hours ago count as half of one now";
}

TEST(EvictOrder, WhatMustStayStays) {
    std::array files{clean(10, 0), clean(10, 0), clean(10, 0)};
    files[0].clean = false;
    files[1].open = true;
    files[2].pinned = true;
    for (EvictCandidate& one : files) {
        one.live_ns = 1;
        one.used_ns = 0;
    }
    EXPECT_TRUE(to_evict(files, {.now_ns = now, .used_bytes = 30}).empty());
}

TEST(EvictOrder, WhoseTimeIsUpGoesWhateverRoomThereIs) {
    std::array files{clean(10, 9, now - 2 * hour), clean(10, 9, now - 3 * hour),
                     clean(10, 9, now - hour)};
    for (EvictCandidate& one : files) {
        one.live_ns = 2 * hour;
    }
    EXPECT_EQ(to_evict(files, {.now_ns = now, .used_bytes = 30, .high_bytes = 99, .low_bytes = 99}),
              (std::vector<std::size_t>{1, 0}));
    EXPECT_TRUE(to_evict(files, {.now_ns = 0, .used_bytes = 30, .high_bytes = 99}).empty())
        << "the clock was set back";
}

TEST(EvictOrder, AWriteThatFoundNoRoomGetsATenthOrMore) {
    EXPECT_EQ(low_for_a_write(1000, 1000, 700), 700) << "full: as far as ever";
    EXPECT_EQ(low_for_a_write(710, 1000, 700), 610);
    EXPECT_EQ(low_for_a_write(50, 1000, 700), -50) << "a quota is used up: all may go";
    const std::array files{clean(10, 3), clean(10, 1), clean(10, 2)};
    EXPECT_EQ(to_evict(files, {.now_ns = now,
                               .used_bytes = 30,
                               .high_bytes = -1,
                               .low_bytes = low_for_a_write(30, 40, 28)}),
              (std::vector<std::size_t>{1}))
        << "not more than that";
}

TEST(EvictOrder, NoMoreCandidatesAreNeededWhereRoomIsMade) {
    const std::array files{clean(10, 3), clean(10, 1)};
    EvictSituation full{.now_ns = now, .used_bytes = 90, .high_bytes = 80, .low_bytes = 75};
    const auto needs_more = [&] { return !makes_room(files, to_evict(files, full), full); };
    EXPECT_FALSE(needs_more());
    full.low_bytes = 60;
    EXPECT_TRUE(needs_more());
    full.high_bytes = 90;
    EXPECT_FALSE(needs_more()) << "there is room";
}

RC_GTEST_PROP(EvictOrderProperties, TakesNoMoreThanNeededAndNothingThatMustStay, ()) {
    std::vector<EvictCandidate> files(*rc::gen::inRange<std::size_t>(0, 9));
    EvictSituation now_full{.now_ns = now};
    for (EvictCandidate& one : files) {
        one.bytes = *rc::gen::inRange<std::int64_t>(1, 20);
        one.clean = *rc::gen::inRange(0, 4) != 0;
        one.open = *rc::gen::inRange(0, 4) == 0;
        one.pinned = *rc::gen::inRange(0, 4) == 0;
        one.heat = *rc::gen::inRange(0, 5);
        one.used_ns = now;
        now_full.used_bytes += one.bytes;
    }
    now_full.high_bytes = *rc::gen::inRange<std::int64_t>(0, 60);
    now_full.low_bytes = *rc::gen::inRange<std::int64_t>(0, now_full.high_bytes + 1);
    const auto chosen = to_evict(files, now_full);
    std::int64_t left = now_full.used_bytes;
    for (const std::size_t i : chosen) {
        RC_ASSERT(files[i].clean && !files[i].open && !files[i].pinned);
        RC_ASSERT(left > now_full.low_bytes);
        left -= files[i].bytes;
        RC_ASSERT(std::ranges::count(chosen, i) == 1);
    }
    RC_ASSERT(chosen.empty() || now_full.used_bytes > now_full.high_bytes);
    const auto may_go = static_cast<std::size_t>(std::ranges::count_if(
        files, [](const EvictCandidate& one) { return one.clean && !one.open && !one.pinned; }));
    RC_ASSERT(now_full.used_bytes <= now_full.high_bytes || left <= now_full.low_bytes ||
              chosen.size() == may_go);
}

// The order of two replicas is the same whenever they are compared.
RC_GTEST_PROP(HeatProperties, OrderIsThatOfWhatIsLeftAtAnyTime, ()) {
    struct Used {
        double heat = 0;
        std::int64_t ns = 0;
    };
    const auto any = [] {
        return Used{.heat = 1 + *rc::gen::inRange(0, 1000) / 10.0,
                    .ns = now - *rc::gen::inRange<std::int64_t>(0, 100) * hour / 7};
    };
    const Used one = any();
    const Used other = any();
    const std::int64_t later = now + *rc::gen::inRange<std::int64_t>(0, 50) * hour;
    const double left = cooled(one.heat, later - one.ns);
    const double other_left = cooled(other.heat, later - other.ns);
    const bool differ = std::abs(left - other_left) > 1e-9 * left;
    RC_ASSERT(!differ || (heat_order(one.heat, one.ns) < heat_order(other.heat, other.ns)) ==
                             (left < other_left));
}

TEST(Heat, HalvesInItsHalfLife) {
    EXPECT_DOUBLE_EQ(cooled(8, heat_half_life_ns), 4);
    EXPECT_DOUBLE_EQ(cooled(8, -1), 8) << "a clock that went back";
    EXPECT_DOUBLE_EQ(heated(8, 3 * heat_half_life_ns), 2);
}

}  // namespace
}  // namespace forebay::tier
