// Rosters of machines on which no test runs: many nodes, scattered ranks.
#include "collective/mpi/communicator/roster.hpp"

#include <gtest/gtest.h>

namespace forebay::adapters {

namespace {

TEST(Roster, NumbersNodesByTheirLowestRank) {
    const std::vector<std::uint64_t> hosts{7, 3, 7, 9, 3, 7};
    const Roster roster{hosts, 0};
    EXPECT_EQ(roster.nodes(), 3);
    const auto place = roster.place_of(Rank{5});
    EXPECT_EQ(place.node, NodeId{0});
    EXPECT_EQ(place.local, LocalRank{2});
    EXPECT_EQ(place.locals, 3);
    EXPECT_EQ(place.ranks, 6);
    const auto members = roster.members(NodeId{1});
    EXPECT_EQ(std::vector(members.begin(), members.end()), (std::vector{Rank{1}, Rank{4}}));
}

TEST(Roster, PretendedNodesNeverSpanMachines) {
    const std::vector<std::uint64_t> hosts{1, 1, 1, 2, 2, 2, 2};
    const Roster roster{hosts, 2};
    std::vector<std::int32_t> nodes;
    nodes.reserve(7);
    for (std::int32_t rank = 0; rank < 7; ++rank) {
        nodes.push_back(roster.place_of(Rank{rank}).node.value());
    }
    EXPECT_EQ(nodes, (std::vector{0, 0, 1, 2, 3, 3, 4}));
}

}  // namespace

}  // namespace forebay::adapters
