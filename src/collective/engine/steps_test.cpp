// The order that keeps leaders from waiting for one another in a cycle: both ends of every message
// have it at the same place among the messages between the two.
#include "collective/engine/steps.hpp"

#include "collective/engine/file.hpp"
#include "storage/posix/clock.hpp"
#include "worlds/memory/communicator.hpp"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace forebay::engine {
namespace {

using Message = std::tuple<std::int64_t, std::int32_t>;  // round, aggregator
using Between = std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Message>>;

struct Seen {
    Between sent;
    Between received;
};

// The messages of all nodes, with one rank on each; `spans` has the span of every node.
Seen walk(const plan::Plan& plan, const std::vector<plan::Summary>& spans) {
    Seen seen;
    adapters::ClusterOptions options;
    options.node_sizes.assign(spans.size(), 1);
    options.node_bytes = CollectiveFile::node_segment_bytes(static_cast<std::int32_t>(spans.size()),
                                                            std::int64_t{4} << 20);
    adapters::MemoryCluster cluster{options};
    const adapters::SteadyClock clock;
    for (std::int32_t n = 0; n < cluster.ranks(); ++n) {
        CallTeam team{cluster.communicator(Rank{n}), clock};
        for (std::size_t i = 0; i < spans.size(); ++i) {
            team.node_segment().node(NodeId{static_cast<std::int32_t>(i)}) = spans[i];
        }
        const CallRounds rounds{plan, spans[static_cast<std::size_t>(n)], team.place()};
        OutwardSteps outward{team, rounds};
        plan::Window window;
        while (const auto step = outward.next(window)) {
            seen.sent[{n, rounds.aggregator(step->id).node.value()}].emplace_back(step->round,
                                                                                  step->id.value());
        }
        InwardSteps inward{team, rounds};
        while (const auto step = inward.next()) {
            seen.received[{step->from.value(), n}].emplace_back(step->round, step->id.value());
        }
        EXPECT_TRUE(outward.exhausted());
        EXPECT_TRUE(inward.exhausted());
    }
    return seen;
}

class Steps : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(Steps, SenderAndReceiverAgreeOnTheOrder) {
    const auto [nodes, targets, aggregators] = GetParam();
    plan::NodeTopology topology{std::vector<std::int32_t>(static_cast<std::size_t>(nodes), 4), 2};
    plan::Tuning tuning;
    tuning.aggregators_max = aggregators;
    tuning.window_bytes = 65536;
    tuning.staging_bytes_max = 4 << 20;
    std::vector<plan::Summary> spans;
    plan::Summary all;
    for (std::int64_t n = 0; n < nodes; ++n) {
        spans.push_back(plan::Summary{n * 300000, n * 300000 + 1500000, 1500000, 4, 4});
        all = plan::merge(all, spans.back());
    }
    const plan::Plan plan =
        plan::make_plan(all, FileStripes{targets, 65536}, topology, tuning, IoDirection::write);
    const Seen seen = walk(plan, spans);
    EXPECT_EQ(seen.sent, seen.received);
}

// A plan with twelve aggregators, three for each target.
plan::Plan three_a_target(plan::ExchangeOrder exchange, std::int32_t requests_in_flight) {
    plan::Tuning tuning;
    tuning.aggregators_per_target = 3;
    tuning.exchange = exchange;
    tuning.requests_in_flight = requests_in_flight;
    tuning.window_bytes = 65536;
    const plan::NodeTopology topology{std::vector<std::int32_t>(12, 1), 1};
    return plan::make_plan(plan::Summary{0, 12 << 20, 12 << 20, 4, 4}, FileStripes{4, 65536},
                           topology, tuning, IoDirection::write);
}

// The groups of aggregators that every node visits one after another.
std::vector<std::set<std::int32_t>> visited(const plan::Plan& plan, std::int32_t group) {
    const plan::Summary all{0, 12 << 20, 12 << 20, 4, 4};
    std::vector<std::set<std::int32_t>> groups;
    for (std::int32_t n = 0; n < 12; ++n) {
        ports::RankPlace place;
        place.node = NodeId{n};
        place.nodes = 12;
        const CallRounds rounds{plan, all, place};
        std::vector<std::set<std::int32_t>> seen;
        for (std::int32_t i = 0; i < rounds.aggregators(); ++i) {
            const AggregatorId id = rounds.visited(NodeId{n}, i);
            EXPECT_EQ(rounds.step_of(NodeId{n}, id), i);
            if (i % group == 0) {
                seen.emplace_back();
            }
            seen.back().insert(id.value());
        }
        EXPECT_TRUE(groups.empty() || groups == seen) << "node " << n;
        groups = seen;
    }
    return groups;
}

TEST(Stepwise, VisitsTogetherWhoWritesAtTheSameTime) {
    using Groups = std::vector<std::set<std::int32_t>>;
    const Groups each{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
    const Groups two{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}};
    const Groups all{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
    EXPECT_EQ(visited(three_a_target(plan::ExchangeOrder::stepwise, 1), 4), each);
    EXPECT_EQ(visited(three_a_target(plan::ExchangeOrder::stepwise, 2), 8), two);
    EXPECT_EQ(visited(three_a_target(plan::ExchangeOrder::stepwise, 3), 12), all);
    EXPECT_EQ(
        visited(three_a_target(plan::ExchangeOrder::stepwise, plan::unlimited_requests_in_flight),
                12),
        all);
    EXPECT_EQ(
        visited(three_a_target(plan::ExchangeOrder::stepwise, plan::find_requests_in_flight), 8),
        two);
    EXPECT_EQ(visited(three_a_target(plan::ExchangeOrder::all, 1), 12), all);
}

TEST(Stepwise, BeginsAtEachOfAGroupEquallyOften) {
    const plan::Plan plan = three_a_target(plan::ExchangeOrder::stepwise, 1);
    std::map<std::int32_t, int> begun;
    for (std::int32_t n = 0; n < 12; ++n) {
        ports::RankPlace place;
        place.node = NodeId{n};
        place.nodes = 12;
        const CallRounds rounds{plan, plan::Summary{0, 12 << 20, 12 << 20, 4, 4}, place};
        ++begun[rounds.visited(place.node, 0).value()];
        EXPECT_EQ(rounds.visited(place.node, 0).value(), n % 4) << "neighbours part";
    }
    EXPECT_EQ(begun, (std::map<std::int32_t, int>{{0, 3}, {1, 3}, {2, 3}, {3, 3}}));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Steps,
                         testing::Combine(testing::Values(1, 2, 3, 5, 8),
                                          testing::Values(1, 2, 5, 7, 16),
                                          testing::Values(0, 1, 3)));

}  // namespace
}  // namespace forebay::engine
