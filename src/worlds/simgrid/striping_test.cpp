// Places of bytes in objects, computed by hand.
#include "worlds/simgrid/striping.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace forebay::adapters {
namespace {

std::vector<ObjectPiece> pieces(const ObjectStriping& striping, FileRun run, std::int64_t unit) {
    std::vector<ObjectPiece> all;
    while (run.bytes > 0) {
        all.push_back(first_piece(striping, run, unit));
        run.offset += all.back().bytes;
        run.bytes -= all.back().bytes;
    }
    return all;
}

TEST(ObjectStriping, GoesRoundTheObjects) {
    const std::vector<ObjectPiece> expected{{1, 2, 8}, {0, 10, 10}, {1, 10, 5}};
    EXPECT_EQ(pieces({10, 2}, {12, 23}, 1000), expected);
}

TEST(ObjectStriping, EndsAPieceWhereAnRpcEnds) {
    const std::vector<ObjectPiece> expected{{0, 6, 2}, {0, 8, 4}, {0, 12, 4}, {0, 16, 1}};
    EXPECT_EQ(pieces({100, 1}, {6, 11}, 4), expected);
}

TEST(ObjectStriping, ShortStripesFollowOneAnotherInTheirObject) {
    const std::vector<ObjectPiece> expected{{0, 0, 4}, {1, 0, 4}, {0, 4, 4}, {1, 4, 4}};
    EXPECT_EQ(pieces({4, 2}, {0, 16}, 8), expected);
}

}  // namespace
}  // namespace forebay::adapters
