// Tests which node writes for which.
#include "pool/policy/writer_nodes.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace forebay::pool {
namespace {

// The writer of each node; its own number if it writes for itself.
std::vector<std::uint32_t> writers_of(std::uint32_t nodes, std::uint32_t writers) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        found.push_back(writer_for({node, nodes, writers}).value_or(node));
    }
    return found;
}

using Nodes = std::vector<std::uint32_t>;

TEST(WriterNodes, AreTheLastOnesOfTheirGroups) {
    EXPECT_EQ(writers_of(1, 1), (Nodes{0}));
    EXPECT_EQ(writers_of(2, 1), (Nodes{1, 1}));
    EXPECT_EQ(writers_of(4, 1), (Nodes{3, 3, 3, 3}));
    EXPECT_EQ(writers_of(4, 2), (Nodes{1, 1, 3, 3}));
    EXPECT_EQ(writers_of(5, 2), (Nodes{2, 2, 2, 4, 4}));
    EXPECT_EQ(writers_of(7, 3), (Nodes{2, 2, 2, 4, 4, 6, 6}));
    EXPECT_EQ(writers_of(3, 0), (Nodes{0, 1, 2})) << "not asked for";
    EXPECT_EQ(writers_of(3, 3), (Nodes{0, 1, 2}));
    EXPECT_EQ(writers_of(3, 9), (Nodes{0, 1, 2})) << "more than there are nodes";
}

TEST(WriterNodes, AreAsManyAsAskedForAndServeAllOthers) {
    for (std::uint32_t nodes = 1; nodes <= 40; ++nodes) {
        for (std::uint32_t writers = 1; writers <= nodes; ++writers) {
            const Nodes found = writers_of(nodes, writers);
            const std::set<std::uint32_t> of{found.begin(), found.end()};
            EXPECT_EQ(of.size(), writers);
            std::uint32_t least = nodes;
            std::uint32_t most = 0;
            for (const std::uint32_t writer : of) {
                EXPECT_EQ(found[writer], writer) << "who writes for others hands nothing over";
                std::uint32_t served = 0;
                for (std::uint32_t node = 0; node < nodes; ++node) {
                    served += found[node] == writer && node != writer ? 1 : 0;
                }
                least = std::min(least, served);
                most = std::max(most, served);
            }
            EXPECT_LE(most - least, 1U) << nodes << " nodes, " << writers << " writers";
        }
    }
}

}  // namespace
}  // namespace forebay::pool
