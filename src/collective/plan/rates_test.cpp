// Which target is reported as slow, and which k is remembered, from what was observed of each
// target.
#include "collective/plan/rates.hpp"

#include "foundation/base/bytes.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

namespace forebay::plan {
namespace {

// A throttle whose target moved 64 requests of 1 MiB one at a time, each in `milliseconds`, so that
// this gives its rate.
Throttle seen(std::int64_t milliseconds) {
    Throttle throttle = Throttle::fixed(1);
    for (int i = 0; i < 64; ++i) {
        throttle.observe({mib, milliseconds * 1'000'000, 1});
    }
    return throttle;
}

double rate_of(std::int64_t milliseconds) {
    return static_cast<double>(mib) * 1e3 / static_cast<double>(milliseconds);
}

TargetRates rates_of(const std::vector<std::int64_t>& milliseconds) {
    TargetRates rates;
    for (std::size_t i = 0; i < milliseconds.size(); ++i) {
        rates.add(TargetId{static_cast<std::int32_t>(i)}, seen(milliseconds[i]));
    }
    return rates;
}

TEST(SlowTarget, IsTheOneThatTheOthersAreTwiceAsFastAs) {
    struct Row {
        std::vector<std::int64_t> milliseconds;  // of each target's requests
        std::optional<std::int32_t> slow;
    };
    const std::vector<Row> table{
        {{}, {}},                // nothing seen
        {{100}, {}},             // nobody to compare with
        {{10, 10}, {}},          // alike
        {{10, 19}, {}},          // not twice as fast
        {{10, 21}, 1},           // just over
        {{21, 10}, 0},           // wherever it is
        {{10, 10, 100, 10}, 2},  // one among several
        {{10, 100, 100}, 1},     // one fast one lifts the average; the first of two alike
    };
    for (const Row& row : table) {
        const auto slow = slow_target(rates_of(row.milliseconds));
        const auto name = testing::PrintToString(row.milliseconds);
        ASSERT_EQ(slow.has_value(), row.slow.has_value()) << name;
        if (slow) {
            EXPECT_EQ(slow->target.value(), *row.slow) << name;
        }
    }
}

TEST(SlowTarget, SaysItsRateAndThatOfTheOthers) {
    const auto slow = slow_target(rates_of({10, 10, 40}));
    ASSERT_TRUE(slow.has_value());
    EXPECT_NEAR(slow->rate, rate_of(40), 1);
    EXPECT_NEAR(slow->usual_rate, rate_of(10), 1);
    EXPECT_EQ(slow->limit, 0) << "its k was not sought";
}

// Rates as several targets with these k and rates leave them; k 0: not found.
struct Target {
    double usual = 0;
    std::int32_t limit = 0;
    double found = 0;
};

TargetRates with(const std::vector<Target>& targets) {
    TargetRates all;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const Target& one = targets[i];
        TargetRates rates;
        rates.sum = one.usual;
        rates.slowest = one.usual;
        rates.targets = 1;
        rates.slowest_target = static_cast<std::int32_t>(i);
        rates.slowest_limit = one.limit;
        rates.slowest_found = one.found;
        rates.settled = one.limit > 0 ? 1 : 0;
        rates.limits = one.limit;
        rates.found = one.found;
        all = i == 0 ? rates : merge(all, rates);
    }
    return all;
}

TEST(FoundLimit, IsTheMeanOfTheTargetsButTheSlowOne) {
    struct Row {
        std::vector<Target> targets;
        FoundLimit found;
    };
    const std::vector<Row> table{
        {{}, {}},
        {{{100, 0, 0}}, {}},                                     // seen, but nothing found
        {{{100, 4, 110}}, {4, 110}},                             // alone
        {{{100, 4, 110}, {90, 7, 100}}, {6, 105}},               // 5.5 is rounded up
        {{{100, 4, 110}, {90, 0, 0}}, {4, 110}},                 // one of them not yet
        {{{100, 4, 110}, {100, 6, 90}, {10, 1, 12}}, {5, 100}},  // the slow one stays apart
        {{{100, 4, 110}, {100, 6, 90}, {10, 0, 0}}, {5, 100}},   // nothing of it to leave out
        {{{100, 0, 0}, {10, 1, 12}}, {}},                        // only the slow one was found
    };
    for (const Row& row : table) {
        EXPECT_EQ(found_limit(with(row.targets)), row.found)
            << row.targets.size() << " targets, k " << row.found.limit;
    }
}

TEST(TargetRates, MergeInAnyOrder) {
    const std::vector<Target> targets{{100, 4, 110}, {100, 6, 90}, {10, 1, 12}, {50, 0, 0}};
    const std::vector<Target> others{{70, 2, 70}, {20, 3, 30}};
    const TargetRates a = with(targets);
    const TargetRates b = with(others);
    EXPECT_EQ(merge(a, b), merge(b, a));
    EXPECT_EQ(merge(a, TargetRates{}), a);
    EXPECT_EQ(merge(TargetRates{}, a), a);
}

TEST(TargetRates, AreToldOnceOfEachTarget) {
    Aggregator own;
    own.node = NodeId{1};
    own.local = LocalRank{2};
    EXPECT_TRUE(tells_rates(own, NodeId{1}, LocalRank{2}, false));
    EXPECT_FALSE(tells_rates(own, NodeId{1}, LocalRank{0}, false)) << "the aggregator does";
    EXPECT_FALSE(tells_rates(own, NodeId{0}, LocalRank{2}, false)) << "of another node";
    EXPECT_TRUE(tells_rates(own, NodeId{1}, LocalRank{0}, true)) << "the leader carries its turns";
    EXPECT_FALSE(tells_rates(own, NodeId{1}, LocalRank{2}, true)) << "the leader does";
    own.share = 1;
    EXPECT_FALSE(tells_rates(own, NodeId{1}, LocalRank{0}, true)) << "share 0 is told of";
}

}  // namespace
}  // namespace forebay::plan
