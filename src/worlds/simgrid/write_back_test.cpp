// Which writes are held back, and when they are sent.
#include "worlds/simgrid/write_back.hpp"

#include <gtest/gtest.h>

namespace forebay::adapters {
namespace {

// RPCs of 8 bytes, at most 20 dirty bytes per target; two targets, three ranks.
WriteBack small() {
    ClientPlatform client;
    client.rpc_bytes = 8;
    client.dirty_bytes = 20;
    return {client, 2, 3};
}

TEST(WriteBack, GathersUntilAnRpcIsFull) {
    WriteBack held = small();
    ASSERT_TRUE(held.reserve({0, 1, 7, 0, 4}));
    held.put({0, 1, 7, 0, 4});
    EXPECT_FALSE(held.next(1));
    ASSERT_TRUE(held.reserve({0, 1, 7, 4, 4}));
    held.put({0, 1, 7, 4, 4});
    EXPECT_EQ(held.next(1), (DirtyRun{0, 1, 7, 0, 8}));
    EXPECT_FALSE(held.next(1));
    EXPECT_EQ(held.dirty(0), 8);
    EXPECT_TRUE(held.sent({0, 1, 7, 0, 8}).empty());
    EXPECT_EQ(held.dirty(0), 0);
}

TEST(WriteBack, DoesNotGatherWhatDoesNotFollow) {
    WriteBack held = small();
    for (const DirtyRun& run : {DirtyRun{0, 0, 7, 0, 4}, DirtyRun{0, 0, 8, 4, 2}}) {
        ASSERT_TRUE(held.reserve(run));
        held.put(run);
    }
    EXPECT_EQ(held.next(0), (DirtyRun{0, 0, 7, 0, 4}));
    EXPECT_FALSE(held.next(0));
}

TEST(WriteBack, GivesAllOfARankWhenItSyncs) {
    WriteBack held = small();
    for (const DirtyRun& run : {DirtyRun{0, 0, 7, 0, 4}, DirtyRun{1, 0, 7, 8, 4}}) {
        ASSERT_TRUE(held.reserve(run));
        held.put(run);
    }
    held.flush(1);
    EXPECT_EQ(held.next(0), (DirtyRun{1, 0, 7, 8, 4}));
    EXPECT_FALSE(held.next(0));
}

TEST(WriteBack, WhoFindsNoRoomWaitsInLineAndHasTheRestSent) {
    WriteBack held = small();
    ASSERT_TRUE(held.reserve({0, 0, 7, 0, 8}));
    held.put({0, 0, 7, 0, 8});
    ASSERT_TRUE(held.reserve({1, 0, 7, 101, 4}));
    held.put({1, 0, 7, 101, 4});
    ASSERT_TRUE(held.reserve({0, 0, 7, 8, 8}));
    held.put({0, 0, 7, 8, 8});
    EXPECT_FALSE(held.reserve({2, 0, 7, 200, 8}));
    EXPECT_FALSE(held.reserve({1, 0, 7, 104, 2})) << "it would fit, but another one was first";
    EXPECT_TRUE(held.reserve({1, 1, 7, 104, 2})) << "targets do not know each other";
    EXPECT_EQ(held.next(0), (DirtyRun{0, 0, 7, 0, 8}));
    EXPECT_EQ(held.next(0), (DirtyRun{0, 0, 7, 8, 8}));
    EXPECT_EQ(held.next(0), (DirtyRun{1, 0, 7, 101, 4})) << "somebody waits";
    EXPECT_EQ(held.sent({0, 0, 7, 0, 8}), std::vector<std::int32_t>{2});
    EXPECT_EQ(held.sent({0, 0, 7, 8, 8}), std::vector<std::int32_t>{1});
}

TEST(WriteBack, TakesMoreThanItMayHoldWhereThereIsNothing) {
    ClientPlatform client;
    client.rpc_bytes = 64;
    client.dirty_bytes = 20;
    WriteBack held{client, 1, 1};
    EXPECT_TRUE(held.reserve({0, 0, 7, 0, 64}));
    EXPECT_FALSE(held.reserve({0, 0, 7, 64, 1}));
}

}  // namespace
}  // namespace forebay::adapters
