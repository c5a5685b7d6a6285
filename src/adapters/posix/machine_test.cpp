// The rule for aggregators per node as a table, and the real machine for plausibility.
#include "adapters/posix/machine.hpp"

#include <gtest/gtest.h>

namespace forebay::adapters {
namespace {

TEST(Machine, AggregatorsFollowInterfacesAndCores) {
    EXPECT_EQ(aggregators_per_node({1, 0}), 1);
    EXPECT_EQ(aggregators_per_node({2, 1}), 1);
    EXPECT_EQ(aggregators_per_node({32, 1}), 4);
    EXPECT_EQ(aggregators_per_node({16, 1}), 2);
    EXPECT_EQ(aggregators_per_node({8, 2}), 2);
    EXPECT_EQ(aggregators_per_node({128, 8}), 4);
}

TEST(Machine, ThisOneHasCores) { EXPECT_GE(inspect_machine().cores, 1); }

}  // namespace
}  // namespace forebay::adapters
