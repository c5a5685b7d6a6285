// Which ranks are I/O ranks, by tables; and, for all shapes, that every compute rank has one number
// and one server.
#include "io_ranks/policy/roles.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::io_ranks {
namespace {

// One letter a rank: the digit of the I/O rank that serves it, or I for an I/O rank.
std::string drawn(const WorldShape& world) {
    std::string letters;
    for (std::int32_t rank = 0; rank < world.ranks; ++rank) {
        const RankRole role = role_of(world, rank);
        const bool serves = role.kind == RoleKind::io;
        const RankRole server = serves ? role : role_of(world, role.server);
        letters += serves ? 'I' : static_cast<char>('0' + server.number);
    }
    return letters;
}

struct TableRow {
    WorldShape world;
    std::string_view drawn;
};

TEST(Roles, AreThoseOfTheTable) {
    const std::vector<TableRow> rows{
        {{2, 1, 1}, "0I"},          {{6, 2, 1}, "0011II"},   {{6, 2, 2}, "00I11I"},
        {{8, 4, 1}, "0123IIII"},    {{8, 4, 2}, "01II23II"}, {{10, 3, 1}, "0011222III"},
        {{10, 3, 3}, "00I11I222I"}, {{7, 2, 2}, "00I111I"},
    };
    for (const TableRow& row : rows) {
        EXPECT_EQ(fault_of(row.world), ShapeFault::none) << row.drawn;
        EXPECT_EQ(drawn(row.world), row.drawn);
    }
}

TEST(Roles, AreNotGivenWhereTheNumbersDoNotFit) {
    EXPECT_EQ(fault_of({4, 0, 1}), ShapeFault::no_io_ranks);
    EXPECT_EQ(fault_of({4, 1, 0}), ShapeFault::no_io_ranks);
    EXPECT_EQ(fault_of({4, -1, 1}), ShapeFault::no_io_ranks);
    EXPECT_EQ(fault_of({9, 3, 2}), ShapeFault::uneven_spread);
    EXPECT_EQ(fault_of({1, 1, 1}), ShapeFault::too_few_ranks);
    EXPECT_EQ(fault_of({5, 3, 1}), ShapeFault::too_few_ranks);
    EXPECT_EQ(fault_of({3, 2, 2}), ShapeFault::too_few_ranks);
    EXPECT_EQ(fault_of({2'000'000'000, 2'000'000'000, 1}), ShapeFault::too_few_ranks);
    EXPECT_STREQ(text_of(ShapeFault::none), "");
    EXPECT_STRNE(text_of(ShapeFault::too_few_ranks), "");
}

RC_GTEST_PROP(Roles, EachComputeRankHasOneNumberAndOneServer, ()) {
    const auto spread = *rc::gen::inRange<std::int32_t>(1, 9);
    const auto per_group = *rc::gen::inRange<std::int32_t>(1, 6);
    const auto ranks = *rc::gen::inRange<std::int32_t>(1, 400);
    const WorldShape world{ranks, spread * per_group, spread};
    RC_PRE(fault_of(world) == ShapeFault::none);
    std::int32_t compute = 0;
    std::int32_t io = 0;
    std::vector<std::int32_t> served(static_cast<std::size_t>(ranks), -1);
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const RankRole role = role_of(world, rank);
        if (role.kind == RoleKind::compute) {
            RC_ASSERT(role.number == compute++);
            RC_ASSERT(role_of(world, role.server).kind == RoleKind::io);
            continue;
        }
        RC_ASSERT(role.number == io++);
        RC_ASSERT(role.served > 0);
        for (std::int32_t at = role.first_served; at < role.first_served + role.served; ++at) {
            RC_ASSERT(role_of(world, at).server == rank);
            served[static_cast<std::size_t>(at)] = rank;
        }
    }
    RC_ASSERT(io == world.io_ranks);
    RC_ASSERT(compute == compute_ranks(world));
    RC_ASSERT(std::count(served.begin(), served.end(), -1) == world.io_ranks);
}

}  // namespace
}  // namespace forebay::io_ranks
