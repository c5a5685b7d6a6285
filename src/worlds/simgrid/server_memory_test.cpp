// A server's read cache.
#include "worlds/simgrid/server_memory.hpp"

#include <gtest/gtest.h>

namespace forebay::adapters {
namespace {

TEST(ServerReadCache, HasWhatWasReadFromThenOn) {
    ServerReadCache memory{10 * ServerReadCache::block_bytes};
    EXPECT_FALSE(memory.there(1, 0));
    memory.keep(1, 0, 2.5);
    EXPECT_EQ(memory.there(1, 0), 2.5);
    EXPECT_FALSE(memory.there(1, 1));
    EXPECT_FALSE(memory.there(2, 0));
}

TEST(ServerReadCache, ForgetsTheOldest) {
    ServerReadCache memory{2 * ServerReadCache::block_bytes};
    for (const std::int64_t block : {0, 1, 1, 2}) {
        memory.keep(0, block, 1);
    }
    EXPECT_FALSE(memory.there(0, 0));
    EXPECT_TRUE(memory.there(0, 1));
    EXPECT_TRUE(memory.there(0, 2));
}

TEST(ServerReadCache, OfNoBytesHasNothing) {
    ServerReadCache memory{0};
    memory.keep(0, 0, 1);
    EXPECT_FALSE(memory.there(0, 0));
}

// The objects of the 65537th file were taken for those of the first one.
TEST(ServerReadCache, TellsAllObjectsAndBlocksFromEachOther) {
    constexpr std::int64_t many = std::int64_t{1} << 32;
    ServerReadCache memory{10 * ServerReadCache::block_bytes};
    memory.keep(1, 0, 2.5);
    EXPECT_FALSE(memory.there(1 + many, 0));
    EXPECT_FALSE(memory.there(0, many));
}

}  // namespace
}  // namespace forebay::adapters
