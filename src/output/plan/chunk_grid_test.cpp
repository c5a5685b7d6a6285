// Chunks are contiguous parts of the array, whatever its shape is.
#include "output/plan/chunk_grid.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace forebay::output {
namespace {

using Shape = std::vector<std::int64_t>;

TEST(ChunkGrid, CutsTheSlowestDimensionThatItHasTo) {
    EXPECT_EQ(ChunkGrid(Shape{4, 5, 6}, 1000).chunk_shape(), (Shape{4, 5, 6}));
    EXPECT_EQ(ChunkGrid(Shape{4, 5, 6}, 60).chunk_shape(), (Shape{2, 5, 6}));
    EXPECT_EQ(ChunkGrid(Shape{5, 5, 6}, 60).chunk_shape(), (Shape{2, 5, 6}));
    EXPECT_EQ(ChunkGrid(Shape{4, 6, 6}, 29).chunk_shape(), (Shape{1, 3, 6}));
    EXPECT_EQ(ChunkGrid(Shape{10}, 4).chunk_shape(), (Shape{4}));
    // A prime number of elements in the row of a matrix.
    EXPECT_EQ(ChunkGrid(Shape{2, 10007}, 5000).chunk_shape(), (Shape{1, 10007}));
}

RC_GTEST_PROP(ChunkGrid, ChunksAreTheArrayInOrder, ()) {
    Shape shape;
    std::int64_t elements = 1;
    const auto dimensions = *rc::gen::inRange<std::size_t>(1, 5);
    for (std::size_t i = 0; i < dimensions; ++i) {
        shape.push_back(*rc::gen::inRange<std::int64_t>(1, 8));
        elements *= shape.back();
    }
    const ChunkGrid grid(shape, *rc::gen::inRange<std::int64_t>(1, 60));
    std::int64_t at = 0;
    for (std::int64_t chunk = 0; chunk < grid.chunks(); ++chunk) {
        // A box of the array that begins where a chunk may, and has no other elements between.
        const ElementRange range = grid.range_of(chunk);
        ArrayBox box{grid.first_of(chunk), grid.chunk_shape()};
        for (std::size_t i = 0; i < shape.size(); ++i) {
            RC_ASSERT(box.start[i] % grid.chunk_shape()[i] == 0);
            box.count[i] = std::min(box.count[i], shape[i] - box.start[i]);
        }
        const Result<RankPatch> patch = RankPatch::box(shape, box);
        RC_ASSERT(patch.has_value());
        RC_ASSERT(range.begin == at);
        patch->each_run({0, elements}, [&](const ArrayRun& run) {
            RC_ASSERT(run.at == at);
            at += run.length;
        });
        RC_ASSERT(range.end == at);
    }
    RC_ASSERT(at == elements);
    const auto begin = *rc::gen::inRange<std::int64_t>(0, elements);
    const ElementRange part{begin, *rc::gen::inRange<std::int64_t>(begin, elements + 1)};
    std::int64_t next = part.begin;
    for (const ChunkPiece& piece : grid.pieces_of(part)) {
        RC_ASSERT(piece.range.begin == next);
        RC_ASSERT(grid.range_of(piece.chunk).begin + piece.at == next);
        RC_ASSERT(piece.range.end <= grid.range_of(piece.chunk).end);
        next = piece.range.end;
    }
    RC_ASSERT(next == part.end);
}

}  // namespace
}  // namespace forebay::output
