// The check finds every error in a file, and no false ones.
#include "benchmarks/hpio/content.hpp"

#include <gtest/gtest.h>

namespace forebay::hpio {
namespace {

using Bytes = std::vector<std::byte>;

ResolvedPattern strided() {
    const RegionPattern regions{.count = 3,
                                .size_bytes = 4,
                                .spacing_bytes = 2,
                                .memory = PatternShape::noncontiguous,
                                .file = PatternShape::noncontiguous};
    return {.pattern = resolved(regions, 2).value(), .ranks = 2};
}

FileContent content(std::uint64_t repetition = 0) {
    return {strided(), {.seed = 1, .file = "f", .repetition = repetition}};
}

// The file after the ranks' writes, into a file filled with gaps before.
Bytes file_by_ranks() {
    const ResolvedPattern job = strided();
    Bytes file(static_cast<std::size_t>(job.watched_bytes()));
    content().fill_gaps(0, file);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        Bytes memory(static_cast<std::size_t>(job.memory_layout(Rank{rank}).extent_bytes()));
        content().fill_memory(Rank{rank}, memory);
        LayoutWalk from(job.memory_layout(Rank{rank}));
        for (LayoutWalk to(job.file_layout(Rank{rank})); !to.done(); to.next(), from.next()) {
            std::copy_n(memory.begin() + from.piece().offset, to.piece().bytes,
                        file.begin() + to.piece().offset);
        }
    }
    return file;
}

ContentDifferences compared(const Bytes& file, bool gaps = true, std::uint64_t repetition = 0) {
    ContentDifferences differences;
    content(repetition).compare(0, file, gaps, differences);
    return differences;
}

TEST(FileContent, IsWhatRanksWrite) { EXPECT_TRUE(compared(file_by_ranks()).none()); }

TEST(FileContent, ATouchedGapIsSeen) {
    Bytes file = file_by_ranks();
    file[4] ^= std::byte{1};
    const ContentDifferences differences = compared(file);
    EXPECT_EQ(differences.gap_bytes, 1);
    EXPECT_EQ(differences.data_bytes, 0);
    ASSERT_EQ(differences.first.size(), 1U);
    EXPECT_NE(describe(differences.first[0]).find("offset 4 (a gap"), std::string::npos);
    EXPECT_TRUE(compared(file, false).none());
}

TEST(FileContent, WrongDataIsSeenWithItsRank) {
    Bytes file = file_by_ranks();
    file[6] ^= std::byte{0xff};
    const ContentDifferences differences = compared(file, false);
    EXPECT_EQ(differences.data_bytes, 1);
    EXPECT_NE(describe(differences.first[0]).find("data of rank 1"), std::string::npos);
}

TEST(FileContent, SwappedRegionsAndOldRepetitionsAreSeen) {
    Bytes file = file_by_ranks();
    std::swap_ranges(file.begin(), file.begin() + 4, file.begin() + 12);
    EXPECT_GT(compared(file).data_bytes, 4);
    EXPECT_GT(compared(file_by_ranks(), true, 1).data_bytes, 12);
}

TEST(FileContent, MemoryIsComparedWithItsGaps) {
    Bytes memory(static_cast<std::size_t>(strided().memory_layout(Rank{1}).extent_bytes()));
    content().fill_memory(Rank{1}, memory);
    ContentDifferences differences;
    content().compare_memory(Rank{1}, memory, differences);
    EXPECT_TRUE(differences.none());
    memory[5] = std::byte{0};
    memory[6] ^= std::byte{1};
    content().compare_memory(Rank{1}, memory, differences);
    EXPECT_EQ(differences.gap_bytes, 1);
    EXPECT_EQ(differences.data_bytes, 1);
}

}  // namespace
}  // namespace forebay::hpio
