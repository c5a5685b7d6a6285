// Tests how many blocks each client may hold, by tables.
#include "pool/policy/credit.hpp"

#include <array>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace forebay::pool {
namespace {

TEST(Credit, AShareIsThatOfEachWriterAndNoLessThanTheMinimum) {
    EXPECT_EQ(fair_share({.cap = 64, .writers = 0}), 64);
    EXPECT_EQ(fair_share({.cap = 64, .writers = 1}), 64);
    EXPECT_EQ(fair_share({.cap = 64, .writers = 5}), 12);
    EXPECT_EQ(fair_share({.cap = 64, .writers = 100}), minimum_blocks);
    EXPECT_EQ(fair_share({.cap = 0, .writers = 1}), minimum_blocks);
}

TEST(Credit, OneMoreBlockIsHadByThoseWhoMay) {
    struct Row {
        const char* name;
        std::int64_t holds;
        LeaseTotals lending;
        bool may;
    };
    const std::array rows{
        Row{"the first, whatever the cap", 0, {.cap = 4, .held = 9, .writers = 1}, true},
        Row{"up to the minimum, below the cap", 1, {.cap = 4, .held = 3, .writers = 1}, true},
        Row{"up to the minimum, at the cap", 1, {.cap = 4, .held = 4, .writers = 1}, false},
        Row{"all but what is spared", 6, {.cap = 8, .held = 6, .writers = 1}, true},
        Row{"what is spared for later ones", 7, {.cap = 8, .held = 7, .writers = 1}, false},
        Row{"what others lack to their minimum",
            4,
            {.cap = 16, .held = 10, .missing = 4, .writers = 3},
            false},
        Row{"beyond a share while nobody waits", 9, {.cap = 16, .held = 9, .writers = 2}, true},
        Row{"beyond a share while others wait",
            9,
            {.cap = 16, .held = 9, .writers = 2, .others_wait = true},
            false},
        Row{"below a share while others wait",
            7,
            {.cap = 16, .held = 9, .writers = 2, .others_wait = true},
            true},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(may_have_more(row.holds, row.lending), row.may) << row.name;
    }
}

TEST(Credit, BlocksThatNobodyNeedsYetAreFewerThanHalfOfAll) {
    EXPECT_TRUE(may_be_warmed(15, {.cap = 64, .held = 31, .writers = 2}));
    EXPECT_FALSE(may_be_warmed(16, {.cap = 64, .held = 31, .writers = 2})) << "half of a share";
    EXPECT_FALSE(may_be_warmed(0, {.cap = 64, .held = 32, .writers = 2})) << "half of the cap";
    EXPECT_FALSE(may_be_warmed(0, {.cap = 64, .held = 30, .missing = 2, .writers = 2}));
}

RC_GTEST_PROP(Credit, AllGetTheirMinimumAndTheCapIsKept, ()) {
    const auto cap = *rc::gen::inRange<std::int64_t>(2, 200);
    const auto writers = *rc::gen::inRange<std::int64_t>(1, cap / minimum_blocks + 1);
    std::vector<std::int64_t> holds(static_cast<std::size_t>(writers), 0);
    LeaseTotals lending{.cap = cap, .missing = writers * minimum_blocks, .writers = writers};
    const auto asks = *rc::gen::container<std::vector<std::size_t>>(
        rc::gen::inRange<std::size_t>(0, holds.size()));
    const auto ask = [&](std::size_t who) {
        if (!may_have_more(holds[who], lending)) {
            return;
        }
        lending.missing -= holds[who] < minimum_blocks ? 1 : 0;
        ++holds[who];
        ++lending.held;
        RC_ASSERT(lending.held <= cap);
    };
    for (const std::size_t who : asks) {
        ask(who);
    }
    for (std::size_t who = 0; who < holds.size(); ++who) {
        ask(who);
        ask(who);
        RC_ASSERT(holds[who] >= minimum_blocks);
    }
}

TEST(Credit, WhatIsKeptAheadDoublesForWhoUsesItUpAndHalvesForWhoIsIdle) {
    ClientDemand demand;
    EXPECT_EQ(demand.ahead, first_ahead);
    demand = next_demand(demand, first_ahead / 2, 3);
    EXPECT_EQ(demand.ahead, first_ahead) << "half of it is not much";
    demand = next_demand(demand, first_ahead / 2 + 1, 8);
    EXPECT_EQ(demand.ahead, 2 * first_ahead);
    EXPECT_EQ(demand.peak, first_peak) << "who has not written yet may soon";
    demand = next_demand(demand, 1000, 100);
    demand = next_demand(demand, 1000, 20);
    EXPECT_EQ(demand.ahead, ahead_max);
    EXPECT_EQ(demand.peak, 100);
    for (std::int64_t i = 1; i < idle_looks_max; ++i) {
        demand = next_demand(demand, 0, 2);
    }
    EXPECT_EQ(demand.ahead, ahead_max) << "not at once";
    demand = next_demand(demand, 0, 2);
    EXPECT_EQ(demand.ahead, ahead_max / 2);
    EXPECT_EQ(demand.peak, 75);
    for (std::int64_t i = 0; i < 40 * idle_looks_max; ++i) {
        demand = next_demand(demand, 0, 2);
    }
    EXPECT_EQ(demand.ahead, first_ahead);
    EXPECT_EQ(demand.peak, 2);
}

TEST(Credit, IsNotMoreThanHalfOfAShareAhead) {
    const ClientDemand demand{.ahead = 32, .peak = 10};
    EXPECT_EQ(ahead(demand, {.cap = 1000, .writers = 1}), 32);
    EXPECT_EQ(ahead(demand, {.cap = 20, .writers = 1}), 10);
    EXPECT_EQ(ahead(demand, {.cap = 2, .writers = 9}), 1);
    EXPECT_EQ(kept(demand, 4, {.cap = 2, .writers = 9}), 6);
    EXPECT_EQ(kept(demand, 10, {.cap = 1000, .writers = 1}), 32);
}

TEST(Credit, MemoryIsTouchedForWhatBurstsNeededAndForLittleBeyond) {
    const ClientDemand demand{.ahead = 32, .peak = 10};
    EXPECT_EQ(touched_ahead(demand, {.cap = 1000, .writers = 1}), touched_ahead_max);
    EXPECT_EQ(touched_ahead(demand, {.cap = 2, .writers = 9}), 1);
    EXPECT_EQ(warmed(demand, 0, {.cap = 1000, .writers = 1}), 10);
    EXPECT_EQ(warmed(demand, 10, {.cap = 1000, .writers = 1}), touched_ahead_max);
}

}  // namespace
}  // namespace forebay::pool
