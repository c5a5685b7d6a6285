// Every route that a file's bytes can take.
#include "collective/plan/storage_route.hpp"

#include <array>
#include <gtest/gtest.h>

namespace forebay::plan {
namespace {

struct RouteRow {
    const char* name;
    StorageFacts facts;
    StorageRoute writes;
    StorageRoute reads;
};

constexpr std::array rows{
    RouteRow{"no pool", {}, StorageRoute::file_system, StorageRoute::file_system},
    RouteRow{"the pool of this node", {.covered = true}, StorageRoute::pool, StorageRoute::pool},
    RouteRow{"pools of several nodes",
             {.in_parts = true, .covered = true},
             StorageRoute::part_of_pools,
             StorageRoute::file_system},
    RouteRow{"pools of several nodes, and the path was renamed",
             {.in_parts = true},
             StorageRoute::part_of_pools,
             StorageRoute::file_system},
};

TEST(StorageRoute, FollowsWhoHasTheFile) {
    for (const RouteRow& row : rows) {
        EXPECT_EQ(choose_storage(row.facts, IoDirection::write), row.writes) << row.name;
        EXPECT_EQ(choose_storage(row.facts, IoDirection::read), row.reads) << row.name;
    }
}

}  // namespace
}  // namespace forebay::plan
