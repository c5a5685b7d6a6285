// Which client is granted which range, and which one loses its lock.
#include "worlds/simgrid/extent_locks.hpp"

#include <gtest/gtest.h>

namespace forebay::adapters {
namespace {

constexpr std::int64_t mib = 1 << 20;

// A range of a client with one rank.
LockRange range(std::int32_t client, std::int64_t begin, std::int64_t end) {
    return {client, client, begin, end};
}

TEST(ExtentLocks, WhoIsAloneAsksOnce) {
    ExtentLocks locks;
    EXPECT_FALSE(locks.use(range(0, 5, 6)));
    EXPECT_EQ(locks.grant(range(0, 5, 6)), 0);
    EXPECT_TRUE(locks.use(range(0, 0, 1)));
    EXPECT_TRUE(locks.use(range(0, mib, 1000 * mib)));
    EXPECT_FALSE(locks.use(range(1, 0, 1)));
}

// Two sequential writers, from 0 and from 100.
TEST(ExtentLocks, TwoWritersHaveFoundTheirPartsAfterOneLoss) {
    ExtentLocks locks;
    EXPECT_EQ(locks.grant(range(0, 0, 6)), 0);
    EXPECT_EQ(locks.grant(range(1, 100, 110)), 1);
    EXPECT_FALSE(locks.use(range(0, 6, 7))) << "its lock was taken away";
    EXPECT_EQ(locks.grant(range(0, 6, 7)), 0) << "the other one's does not reach to it";
    EXPECT_TRUE(locks.use(range(1, 110, 120)));
    EXPECT_EQ(locks.granted(), 2);
}

TEST(ExtentLocks, OfANodesRanksCountTogether) {
    ExtentLocks locks;
    EXPECT_EQ(locks.grant({0, 0, 0, 10}), 0);
    EXPECT_TRUE(locks.use({0, 1, 50, 60}));
    EXPECT_EQ(locks.grant({1, 2, 100, 110}), 1);
    EXPECT_EQ(locks.grant({0, 1, 60, 70}), 0);
    EXPECT_TRUE(locks.use({0, 0, 10, 20})) << "with nobody else ahead it got all up to 100";
}

// The locks after 66 clients have written 2 MiB each, in sequence; the last one holds the rest.
ExtentLocks crowded() {
    ExtentLocks locks;
    for (const std::int64_t piece : {0, 1}) {
        for (std::int32_t client = 0; client < 66; ++client) {
            const std::int64_t begin = (2 * std::int64_t{client} + piece) * mib;
            const LockRange own = range(client, begin, begin + mib);
            const std::int32_t lost = locks.use(own) ? 0 : locks.grant(own);
            EXPECT_EQ(lost, piece == 0 && client > 0 ? 1 : 0) << client;
        }
    }
    return locks;
}

TEST(ExtentLocks, OfManyAreLostOnceEach) {
    ExtentLocks locks = crowded();
    EXPECT_EQ(locks.granted(), 66);
    for (std::int32_t client = 0; client < 66; ++client) {
        const std::int64_t begin = (2 * std::int64_t{client} + 1) * mib;
        EXPECT_TRUE(locks.use(range(client, begin, begin + mib))) << client;
    }
}

TEST(ExtentLocks, WhereManyHaveLocksTheyGrowLess) {
    ExtentLocks locks = crowded();
    const std::int64_t begin = 5000 * mib;
    EXPECT_EQ(locks.grant(range(200, begin, begin + mib)), 1) << "the last one had the rest";
    EXPECT_TRUE(locks.use(range(200, begin, begin + 32 * mib)));
    EXPECT_FALSE(locks.use(range(200, begin, begin + 33 * mib)));
    EXPECT_FALSE(locks.use(range(200, begin - 1, begin + mib))) << "nothing before it";
}

TEST(ExtentLocks, AClientsOwnRangesBecomeOne) {
    ExtentLocks locks = crowded();
    const std::int64_t begin = 5000 * mib;
    locks.grant(range(200, begin, begin + mib));
    const std::size_t before = locks.granted();
    EXPECT_EQ(locks.grant(range(200, begin + 31 * mib, begin + 40 * mib)), 0);
    EXPECT_EQ(locks.granted(), before);
    EXPECT_TRUE(locks.use(range(200, begin, begin + 63 * mib)));
}

}  // namespace
}  // namespace forebay::adapters
