// Compares nests with the list of their bytes, and checks their normalised forms.
#include "foundation/pattern/nest.hpp"

#include "foundation/pattern/nest_check.hpp"
#include "foundation/pattern/oracle_gen.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace forebay::pattern {
namespace {

using Numbers = std::vector<std::int64_t>;

RC_GTEST_PROP(Nest, MeansItsBytes, ()) {
    const auto bytes = *oracle::arbitrary_bytes();
    oracle::Choices choices(bytes);
    const int depth = static_cast<int>(choices.below(12));
    const oracle::Sample made = oracle::sample(choices, depth, oracle::Order::any);
    const char* const wrong = oracle::wrong_with(made);
    if (wrong != nullptr) {
        RC_FAIL(std::string(wrong) + ": " + made.nest.describe());
    }
}

RC_GTEST_PROP(Nest, MeansItsBytesWhenAscending, ()) {
    const auto bytes = *oracle::arbitrary_bytes();
    oracle::Choices choices(bytes);
    const int depth = static_cast<int>(choices.below(12));
    const oracle::Sample made = oracle::sample(choices, depth, oracle::Order::ascending);
    RC_ASSERT(made.nest.ascending());
    const char* const wrong = oracle::wrong_with(made);
    if (wrong != nullptr) {
        RC_FAIL(std::string(wrong) + ": " + made.nest.describe());
    }
}

TEST(Nest, EmptyOnes) {
    EXPECT_EQ(Nest{}.size(), 0);
    EXPECT_EQ(Nest{}.depth(), 0);
    EXPECT_EQ(Nest{}.shortest_piece(), 0);
    EXPECT_TRUE(Nest{}.contiguous());
    EXPECT_EQ(Nest::run(0), Nest{});
    EXPECT_EQ(Nest::repeat(Nest::run(4), 0, 8), Nest{});
    EXPECT_EQ(Nest::repeat(Nest{}, 7, 8), Nest{});
    EXPECT_EQ(Nest::list(Nest::run(4), {}), Nest{});
    EXPECT_EQ(Nest::shifted(Nest{}, 100), Nest{});
    EXPECT_EQ(Nest{}.describe(), "nothing");
}

TEST(Nest, RunsThatTouchBecomeOne) {
    EXPECT_EQ(Nest::repeat(Nest::run(16), 10, 16), Nest::run(160));
    EXPECT_EQ(Nest::list(Nest::run(4), Numbers{8, 12, 16}), Nest::shifted(Nest::run(12), 8));
    const std::vector<Nest> children{Nest::run(4), Nest::run(2), Nest::run(10)};
    EXPECT_EQ(Nest::each(children, Numbers{0, 4, 6}), Nest::run(16));
    EXPECT_EQ(Nest::blocks(Nest::run(1), 1, Numbers{2, 3, 0, 4}, Numbers{0, 2, 99, 5}),
              Nest::run(9));
    // A list of runs of four bytes that join to 0-8, 100-108, 200-208.
    EXPECT_EQ(Nest::list(Nest::run(4), Numbers{0, 4, 100, 104, 200, 204}).describe(),
              "repeat 3 × 100 B { run 8 B }");
}

TEST(Nest, RegularLoopsThatTouchBecomeOne) {
    const Nest inner = Nest::repeat(Nest::run(16), 4, 64);
    EXPECT_EQ(Nest::repeat(inner, 3, 256), Nest::repeat(Nest::run(16), 12, 64));
    EXPECT_EQ(Nest::repeat(inner, 1, 5), inner);
    EXPECT_EQ(Nest::repeat(inner, 3, 300).describe(),
              "repeat 3 × 300 B { repeat 4 × 64 B { run 16 B } }");
}

TEST(Nest, RegularListsBecomeRepeats) {
    Numbers displacements(1000);
    for (std::size_t i = 0; i < displacements.size(); ++i) {
        displacements[i] = 7 + 100 * static_cast<std::int64_t>(i);
    }
    const Nest nest = Nest::list(Nest::run(16), displacements);
    EXPECT_EQ(nest.describe(), "at 7: repeat 1000 × 100 B { run 16 B }");
    EXPECT_EQ(Nest::list(Nest::run(8), Numbers{0, 16, 100, 116, 200, 216, 300, 316}).describe(),
              "repeat 4 × 100 B { repeat 2 × 16 B { run 8 B } }");
}

TEST(Nest, ARegularListOfAMillionTakesLessThanAKibibyte) {
    Numbers displacements(1'000'000);
    for (std::size_t i = 0; i < displacements.size(); ++i) {
        displacements[i] = 64 * static_cast<std::int64_t>(i);
    }
    EXPECT_LT(Nest::list(Nest::run(16), displacements).footprint(), 1024U);
    const Numbers counts(displacements.size(), 16);
    EXPECT_LT(Nest::blocks(Nest::run(1), 1, counts, displacements).footprint(), 1024U);
}

TEST(Nest, IrregularListsTakeAtMostSixteenBytesAnEntry) {
    Numbers displacements;
    Numbers counts;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < 100'000; ++i) {
        displacements.push_back(at);
        counts.push_back(1 + i * i % 7);
        at += 100 + i * i % 11;
    }
    EXPECT_LE(Nest::list(Nest::run(16), displacements).footprint(), 9U * 100'000U);
    EXPECT_LE(Nest::blocks(Nest::run(4), 4, counts, displacements).footprint(), 16U * 100'000U);
}

TEST(Nest, ProgressionsWithinIrregularListsAreLoops) {
    Numbers displacements;
    for (std::int64_t row = 0; row < 100; ++row) {
        for (std::int64_t i = 0; i < 500 + row % 3; ++i) {
            displacements.push_back(row * 100'000 + i * 32);
        }
    }
    const Nest nest = Nest::list(Nest::run(16), displacements);
    EXPECT_LT(nest.footprint(), 4096U);
    for (std::size_t i = 0; i < displacements.size(); i += 37) {
        EXPECT_EQ(nest.displacement_of(static_cast<std::int64_t>(16 * i)), displacements[i]);
    }
}

TEST(Nest, BoundsOfNegativeStridesAndDisplacements) {
    const Nest backwards = Nest::shifted(Nest::repeat(Nest::run(4), 3, -10), -5);
    EXPECT_EQ(backwards.low(), -25);
    EXPECT_EQ(backwards.high(), -1);
    EXPECT_EQ(backwards.displacement_of(0), -5);
    EXPECT_FALSE(backwards.ascending());
    EXPECT_FALSE(Nest::repeat(Nest::run(4), 3, 0).ascending());
}

TEST(Nest, Describes) {
    const std::vector<Nest> children{Nest::run(1), Nest::repeat(Nest::run(2), 2, 4)};
    EXPECT_EQ(Nest::each(children, Numbers{0, 8}).describe(),
              "each of 2 { 0: run 1 B, 8: repeat 2 × 4 B { run 2 B } }");
    EXPECT_EQ(Nest::list(Nest::run(2), Numbers{3, 8, 100}).describe(),
              "at 3: list of 3 at 0, 5, 97 { run 2 B }");
}

TEST(NestDeathTest, PositionsBeyond64BitsAreABrokenContract) {
    EXPECT_DEATH(Nest::repeat(Nest::run(std::int64_t{1} << 62), 4, std::int64_t{1} << 62),
                 "precondition broken");
    EXPECT_DEATH(Nest::run(-1), "precondition broken");
}

}  // namespace
}  // namespace forebay::pattern
