// Every byte of a file comes from somewhere, once, and writers of small parts hear of few ranks.
#include "worlds/simulate/transposition.hpp"

#include <gtest/gtest.h>
#include <set>

namespace forebay::sim {
namespace {

TEST(PatchGrids, AreAsSquareAsTheRanksAllow) {
    EXPECT_EQ(patch_grid(6144, 50).columns, 64);
    EXPECT_EQ(patch_grid(6144, 50).rows(), 96);
    EXPECT_EQ(patch_grid(7, 1).columns, 1);
    EXPECT_EQ(patch_grid(1, 1).columns, 1);
}

TEST(RowsOfAWriter, HaveAllBytesOfItsPartAndEachRowOnce) {
    for (const std::int64_t ranks : {1, 7, 12, 768}) {
        for (const std::int64_t writers : {1, 2, 5, 100}) {
            const PatchGrid grid = patch_grid(ranks, 3);
            std::vector<double> of_rank(static_cast<std::size_t>(ranks), 0.0);
            for (std::int64_t writer = 0; writer < writers; ++writer) {
                double sum = 0;
                std::set<std::int64_t> seen;
                for (const PatchRow& row : rows_for(grid, writer, writers)) {
                    EXPECT_TRUE(seen.insert(row.first).second) << "a row is named once";
                    EXPECT_GE(row.share, -1e-12);
                    sum += row.share;
                    for (std::int64_t rank = row.first; rank < row.first + row.ranks; ++rank) {
                        of_rank.at(static_cast<std::size_t>(rank)) +=
                            row.share / static_cast<double>(row.ranks);
                    }
                }
                EXPECT_NEAR(sum, 1.0 / static_cast<double>(writers), 1e-9);
            }
            for (const double share : of_rank) {
                EXPECT_NEAR(share, 1.0 / static_cast<double>(ranks), 1e-9);
            }
        }
    }
}

// 1024 writers of 50 levels of 96 rows: a writer has 4.7 rows of patches, parts of six at most.
TEST(RowsOfAWriter, AreFewWhereItsPartIsSmall) {
    const PatchGrid grid = patch_grid(6144, 50);
    for (std::int64_t writer = 0; writer < 1024; ++writer) {
        const std::size_t rows = rows_for(grid, writer, 1024).size();
        EXPECT_GE(rows, 5U);
        EXPECT_LE(rows, 6U);
    }
    EXPECT_EQ(rows_for(grid, 0, 1).size(), 96U) << "one writer hears of everybody";
}

}  // namespace
}  // namespace forebay::sim
