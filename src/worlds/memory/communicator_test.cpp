// The contract of Communicator on clusters in memory, and features that only these have.
#include "worlds/memory/communicator.hpp"

#include "foundation/ports/communicator_contract.hpp"
#include "worlds/memory/world_cluster.hpp"

namespace forebay::adapters {

namespace {

using ports::CommunicatorContract;

ports::CommunicatorWorld world(const std::string& name, const ClusterOptions& options) {
    return {name, [options](const RankBody& body) { run_ranks(options, body); }};
}

ClusterOptions cluster(std::vector<std::int32_t> sizes,
                       RankArrangement arrangement = RankArrangement::blocks) {
    ClusterOptions options;
    options.node_sizes = std::move(sizes);
    options.arrangement = arrangement;
    options.node_bytes = 1 << 20;
    return options;
}

INSTANTIATE_TEST_SUITE_P(
    Memory, CommunicatorContract,
    testing::Values(world("One", cluster({1})), world("OneNodeOfFour", cluster({4})),
                    world("TwoNodesOfOne", cluster({1, 1})),
                    world("UnevenNodes", cluster({2, 1, 4})),
                    world("RoundRobin", cluster({3, 1, 2}, RankArrangement::round_robin))),
    ports::communicator_world_name);

ports::CommunicatorWorld imagined(const std::string& name, std::vector<std::int32_t> sizes) {
    const auto run = [options = cluster(std::move(sizes))](const RankBody& body) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            MemoryWorld made{{.seed = seed}};
            const WorldEnding ending = run_ranks(made, options, body);
            EXPECT_EQ(ending.kind, WorldEnding::Kind::ended) << ending.report;
        }
    };
    return {name, run};
}

INSTANTIATE_TEST_SUITE_P(ImaginedTime, CommunicatorContract,
                         testing::Values(imagined("One", {1}), imagined("OneNodeOfFour", {4}),
                                         imagined("TwoNodesOfOne", {1, 1}),
                                         imagined("UnevenNodes", {2, 1, 4})),
                         ports::communicator_world_name);

TEST(MemoryCluster, RoundRobinSpreadsNeighbours) {
    MemoryCluster made{cluster({3, 1, 2}, RankArrangement::round_robin)};
    std::vector<std::int32_t> nodes;
    nodes.reserve(6);
    for (std::int32_t rank = 0; rank < made.ranks(); ++rank) {
        nodes.push_back(made.communicator(Rank{rank}).place().node.value());
    }
    EXPECT_EQ(nodes, (std::vector<std::int32_t>{0, 1, 2, 0, 2, 0}));
}

TEST(MemoryCluster, ALongMessageIsNotBuffered) {
    MemoryCluster made{cluster({1, 1})};
    ports::Communicator& sender = made.communicator(Rank{0});
    ports::Communicator& receiver = made.communicator(Rank{1});
    const auto out = ports::letter(5000, 1);
    std::vector<std::byte> in(5000);
    const auto sent = sender.send(NodeId{1}, 1, out);
    EXPECT_FALSE(sender.done(sent));
    const auto received = receiver.receive(NodeId{0}, 1, in);
    EXPECT_TRUE(sender.done(sent));
    EXPECT_TRUE(receiver.done(received));
    EXPECT_TRUE(in == out);
}

TEST(MemoryClusterDeathTest, ADeadlockIsReportedRankByRank) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    ClusterOptions options = cluster({1, 1});
    options.patience = std::chrono::seconds{0};
    EXPECT_DEATH(run_ranks(options,
                           [](ports::Communicator& communicator) {
                               const ports::Word never{0};
                               communicator.wait(never, 0);
                           }),
                 "rank 1:");
}

}  // namespace

}  // namespace forebay::adapters
