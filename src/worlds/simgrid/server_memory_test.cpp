// A server's read cache.
#include "worlds/simgrid/server_memory.hpp"

#include <gtest/gtest.h>

namespace forebay::adapters {
namespace {

TEST(ServerMemory, HasWhatWasReadFromThenOn) {
    ServerMemory memory{10 * ServerMemory::block_bytes};
    EXPECT_FALSE(memory.there(1, 0));
    memory.keep(1, 0, 2.5);
    EXPECT_EQ(memory.there(1, 0), 2.5);
    EXPECT_FALSE(memory.there(1, 1));
    EXPECT_FALSE(memory.there(2, 0));
}

TEST(ServerMemory, ForgetsTheOldest) {
    ServerMemory memory{2 * ServerMemory::block_bytes};
    for (const std::int64_t block : {0, 1, 1, 2}) {
        memory.keep(0, block, 1);
    }
    EXPECT_FALSE(memory.there(0, 0));
    EXPECT_TRUE(memory.there(0, 1));
    EXPECT_TRUE(memory.there(0, 2));
}

TEST(ServerMemory, OfNoBytesHasNothing) {
    ServerMemory memory{0};
    memory.keep(0, 0, 1);
    EXPECT_FALSE(memory.there(0, 0));
}

}  // namespace
}  // namespace forebay::adapters
