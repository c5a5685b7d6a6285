// Tests the ski rental: reads are paid for one by one until they have cost as much as the block.
#include "pool/client/readahead/scattered_reads.hpp"

#include <gtest/gtest.h>

namespace forebay::pool {
namespace {

constexpr std::int64_t block = static_cast<std::int64_t>(block_bytes);
constexpr std::int64_t us = 1000;

// Counts reads of one block until it is worth fetching.
int reads_of(ScatteredReads& reads, std::int64_t number, std::int64_t took_ns,
             std::int64_t fetch_ns) {
    for (int count = 1; count < 10'000; ++count) {
        if (reads.direct(number * block + count, took_ns, fetch_ns)) {
            return count;
        }
    }
    return 10'000;
}

TEST(ScatteredReads, ABlockIsWorthItWhenItsReadsHaveCostAsMuch) {
    ScatteredReads reads;
    EXPECT_EQ(reads_of(reads, 3, 1000 * us, 0), 16) << "its price is not known";
    EXPECT_EQ(reads_of(reads, 4, 1000 * us, 4000 * us), 4);
    EXPECT_EQ(reads_of(reads, 5, 9000 * us, 4000 * us), 2) << "one says nothing";
    EXPECT_GE(reads_of(reads, 6, 40 * us, 5000 * us), 120) << "which is all of it";
}

TEST(ScatteredReads, EachBlockHasItsOwnCosts) {
    ScatteredReads reads;
    for (int round = 0; round < 9; ++round) {
        for (std::int64_t number = 0; number < 250; ++number) {
            EXPECT_FALSE(reads.direct(number * block, 1000 * us, 10'000 * us));
        }
    }
    EXPECT_LE(reads_of(reads, 77, 1000 * us, 10'000 * us), 2);
}

TEST(ScatteredReads, OfManyBlocksOnlyThoseCountThatAreReadOften) {
    ScatteredReads reads;
    for (std::int64_t i = 0; i < 100'000; ++i) {
        EXPECT_FALSE(reads.direct(i * 7919 % 100'003 * block, 1000 * us, 10'000 * us)) << i;
    }
    int worth = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
        const std::int64_t number = i % 2 == 0 ? 42 : i * 7919 % 100'003;
        worth += reads.direct(number * block, 1000 * us, 10'000 * us) && number == 42 ? 1 : 0;
    }
    EXPECT_GE(worth, 20);
}

TEST(ScatteredReads, WhereWhatWasFetchedIsOfNoUseItTakesMore) {
    ScatteredReads reads;
    EXPECT_LE(reads_of(reads, 1, 1000 * us, 10'000 * us), 11);
    for (int i = 0; i < 3000; ++i) {
        reads_of(reads, i % 250, 1000 * us, 10'000 * us);
    }
    EXPECT_GE(reads_of(reads, 501, 1000 * us, 10'000 * us), 80);
    for (int i = 0; i < 100'000; ++i) {  // as long as what it cost is not forgotten
        reads.found();
    }
    EXPECT_LE(reads_of(reads, 502, 1000 * us, 10'000 * us), 12) << "it is of use again";
}

}  // namespace
}  // namespace forebay::pool
