// Compares layouts, their walk and their inverse with each other and with the drawing in HPIO's
// help.
#include "benchmarks/hpio/pattern.hpp"

#include "benchmarks/hpio/grid.hpp"

#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace forebay::hpio {
namespace {

ResolvedPattern job_of(const Pattern& pattern, std::int32_t ranks) {
    return {.pattern = resolved(pattern, ranks).value(), .ranks = ranks};
}

// Draws the owner of each byte of the file.
std::string drawing(const ResolvedPattern& job) {
    std::string text(static_cast<std::size_t>(job.watched_bytes()), '_');
    for (std::int32_t rank = 0; rank < job.ranks; ++rank) {
        for (LayoutWalk walk(job.file_layout(Rank{rank})); !walk.done(); walk.next()) {
            const LayoutPiece piece = walk.piece();
            for (std::int64_t at = piece.offset; at < piece.offset + piece.bytes; ++at) {
                char& byte = text.at(static_cast<std::size_t>(at));
                EXPECT_EQ(byte, '_') << "two ranks write byte " << at;
                byte = static_cast<char>('0' + rank);
            }
        }
    }
    return text;
}

std::string drawing_of_owners(const ResolvedPattern& job) {
    std::string text;
    const auto end = static_cast<std::size_t>(job.watched_bytes());
    while (text.size() < end) {
        const ByteOwner owner = owner_at(job, static_cast<std::int64_t>(text.size()));
        EXPECT_GT(owner.bytes, 0);
        const char byte = owner.rank ? static_cast<char>('0' + owner.rank->value()) : '_';
        text.append(static_cast<std::size_t>(owner.bytes), byte);
    }
    text.resize(end);
    return text;
}

TEST(Pattern, RegionsAreDrawnAsHpioDrawsThem) {
    // The example of HPIO's help: procs=2, region_count=2, region_size=1, region_spacing=3.
    const RegionPattern regions{
        .count = 2, .size_bytes = 1, .spacing_bytes = 3, .file = PatternShape::noncontiguous};
    EXPECT_EQ(drawing(job_of(regions, 2)), "0___1___0___1___");
    RegionPattern contiguous = regions;
    contiguous.file = PatternShape::contiguous;
    EXPECT_EQ(drawing(job_of(contiguous, 2)), "0011");
}

TEST(Pattern, BytesAreThoseOfTheRealHpioRun) {
    // The run of 71-hpio-run.txt: 2 ranks, 1024 regions of 1024 B, gap 128.
    const RegionPattern regions{.count = 1024,
                                .size_bytes = 1024,
                                .spacing_bytes = 128,
                                .memory = PatternShape::noncontiguous,
                                .file = PatternShape::noncontiguous};
    const ResolvedPattern job = job_of(regions, 2);
    EXPECT_EQ(job.data_bytes(), 2097152);
    EXPECT_EQ(job.file_layout(Rank{1}).extent_bytes(), 2359168);
    EXPECT_EQ(job.memory_layout(Rank{1}).extent_bytes(), 1024 * 1152 - 128);
}

TEST(Pattern, BlocksCyclicPiecesAndPartsOfArrays) {
    const ArrayPattern blocks{.dimensions = {{.size = 2, .count = 2}, {.size = 4, .count = 4}},
                              .element_bytes = 1};
    EXPECT_EQ(drawing(job_of(blocks, 4)), "00112233");
    const ArrayPattern cyclic{.dimensions = {{.size = 7, .count = 7, .block = 2}},
                              .element_bytes = 1};
    EXPECT_EQ(drawing(job_of(cyclic, 2)), "0011001");
    const ArrayPattern part{
        .dimensions = {{.size = 3, .start = 1, .count = 1}, {.size = 4, .start = 1, .count = 2}},
        .element_bytes = 1};
    EXPECT_EQ(drawing(job_of(part, 2)), "_____01_____");
}

TEST(Pattern, HaloIsLeftOutOfMemory) {
    const ArrayPattern array{
        .dimensions = {{.size = 2, .count = 2, .halo = 1}, {.size = 3, .count = 3, .halo = 1}},
        .element_bytes = 1};
    LayoutWalk walk(job_of(array, 1).memory_layout(Rank{0}));
    EXPECT_EQ(walk.piece(), (LayoutPiece{6, 3}));
    walk.next();
    EXPECT_EQ(walk.piece(), (LayoutPiece{11, 3}));
    walk.next();
    EXPECT_TRUE(walk.done());
}

TEST(Pattern, WholeRowsAreOnePiece) {
    const ArrayPattern array{
        .dimensions = {{.size = 4, .count = 4, .ranks = 2}, {.size = 5, .count = 5, .ranks = 1}},
        .element_bytes = 8};
    const LayoutWalk walk(job_of(array, 2).file_layout(Rank{1}));
    EXPECT_EQ(walk.piece(), (LayoutPiece{80, 80}));
}

TEST(Pattern, AMillionRegionsCostNoMemory) {
    const ResolvedPattern job =
        job_of(RegionPattern{.count = 1'000'000'000, .file = PatternShape::noncontiguous}, 7);
    EXPECT_LE(job.file_layout(Rank{6}).axes.capacity(), 8U);
    EXPECT_EQ(owner_at(job, 16LL * 7 * 999'999'999 + 16 * 6).rank, Rank{6});
}

Pattern any_pattern() {
    if (*rc::gen::inRange(0, 2) == 0) {
        return RegionPattern{
            .count = *rc::gen::inRange(1, 9),
            .size_bytes = *rc::gen::inRange(1, 7),
            .spacing_bytes = *rc::gen::inRange(0, 5),
            .memory = *rc::gen::element(PatternShape::contiguous, PatternShape::noncontiguous),
            .file = *rc::gen::element(PatternShape::contiguous, PatternShape::noncontiguous)};
    }
    ArrayPattern array{
        .dimensions = std::vector<ArrayDimension>(*rc::gen::inRange<std::size_t>(1, 4)),
        .element_bytes = *rc::gen::inRange(1, 4)};
    for (ArrayDimension& one : array.dimensions) {
        one.size = *rc::gen::inRange(1, 8);
        one.start = *rc::gen::inRange<std::int64_t>(0, one.size);
        one.count = *rc::gen::inRange<std::int64_t>(1, one.size - one.start + 1);
        one.block = *rc::gen::inRange(0, 4);
        one.halo = *rc::gen::inRange(0, 3);
    }
    return array;
}

RC_GTEST_PROP(Pattern, OwnersAreTheInverseOfLayouts, ()) {
    const ResolvedPattern job = job_of(any_pattern(), *rc::gen::inRange(1, 10));
    RC_ASSERT(drawing(job) == drawing_of_owners(job));
}

RC_GTEST_PROP(Pattern, MemoryHoldsWhatTheFileGets, ()) {
    const ResolvedPattern job = job_of(any_pattern(), *rc::gen::inRange(1, 10));
    std::int64_t all = 0;
    for (std::int32_t rank = 0; rank < job.ranks; ++rank) {
        const std::int64_t file = job.file_layout(Rank{rank}).bytes();
        RC_ASSERT(file == job.memory_layout(Rank{rank}).bytes());
        all += file;
    }
    RC_ASSERT(all == job.data_bytes());
}

RC_GTEST_PROP(Pattern, TakingInBitsIsWalking, ()) {
    const ResolvedPattern job = job_of(any_pattern(), 2);
    const RunProduct layout = job.file_layout(Rank{0});
    const std::int64_t bit = *rc::gen::inRange(1, 6);
    std::vector<std::int64_t> walked;
    std::vector<std::int64_t> taken;
    for (LayoutWalk walk(layout); !walk.done(); walk.next()) {
        for (std::int64_t at = 0; at < walk.piece().bytes; ++at) {
            walked.push_back(walk.piece().offset + at);
        }
    }
    for (LayoutWalk walk(layout); !walk.done();) {
        const LayoutPiece piece = walk.take(bit);
        RC_ASSERT(piece.bytes <= bit);
        for (std::int64_t at = 0; at < piece.bytes; ++at) {
            taken.push_back(piece.offset + at);
        }
    }
    RC_ASSERT(walked == taken);
    RC_ASSERT((walked.empty() || layout.extent_bytes() == walked.back() + 1));
}

TEST(Pattern, NonsenseIsRefused) {
    EXPECT_FALSE(resolved(RegionPattern{.count = 0}, 1));
    EXPECT_FALSE(resolved(RegionPattern{.size_bytes = 0}, 1));
    EXPECT_FALSE(resolved(RegionPattern{.spacing_bytes = -1}, 1));
    EXPECT_FALSE(resolved(RegionPattern{.count = bytes_max, .size_bytes = bytes_max}, 4));
    EXPECT_FALSE(resolved(ArrayPattern{}, 1));
    EXPECT_FALSE(resolved(ArrayPattern{.dimensions = {{.size = 4, .start = 2, .count = 3}}}, 1));
    const ArrayPattern fixed{.dimensions = {{.size = 4, .count = 4, .ranks = 3}}};
    EXPECT_FALSE(resolved(fixed, 4));
    EXPECT_TRUE(resolved(fixed, 3));
}

TEST(Grid, PartsAreNearlyCubes) {
    const ArrayPattern array{.dimensions = {{.size = 100, .count = 100},
                                            {.size = 400, .count = 400},
                                            {.size = 1, .count = 1, .ranks = 1}}};
    EXPECT_EQ(grid_of(array, 4).value(), (std::vector<std::int32_t>{1, 4, 1}));
    EXPECT_EQ(grid_of(array, 16).value(), (std::vector<std::int32_t>{2, 8, 1}));
    EXPECT_EQ(grid_of(array, 7).value(), (std::vector<std::int32_t>{1, 7, 1}));
}

}  // namespace
}  // namespace forebay::hpio
