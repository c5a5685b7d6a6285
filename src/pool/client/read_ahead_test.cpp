#include "pool/client/read_ahead.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int64_t KiB = 1 << 10;
constexpr std::int64_t MiB = 1 << 20;
constexpr std::int32_t share = 16;

Extent at(std::int64_t begin, std::int64_t length) { return {Offset{begin}, Length{length}}; }

// A reader whose reads are slow as long as nobody fetches ahead.
class Guess {
public:
    // What of the read had been asked for before it began.
    std::int64_t read(const Extent& range) {
        std::int64_t known = 0;
        constexpr std::int64_t part = 16 * KiB;
        for (std::int64_t done = 0; done < range.length.bytes(); done += part) {
            const std::int64_t bytes = std::min(part, range.length.bytes() - done);
            known += covers(range.begin.bytes() + done) ? bytes : 0;
        }
        ahead.direct(4 * KiB, 10'000'000);
        const Wishes wishes = ahead.note(range, share);
        for (std::size_t i = 0; i < wishes.count; ++i) {
            EXPECT_FALSE(wishes.ranges[i].empty());
            EXPECT_GE(wishes.ranges[i].begin, Offset{0});
            asked.push_back(wishes.ranges[i]);
        }
        return known;
    }
    [[nodiscard]] bool covers(std::int64_t byte) const {
        return std::ranges::any_of(asked, [&](const Extent& one) {
            return one.begin.bytes() <= byte && byte < one.end().bytes();
        });
    }
    [[nodiscard]] std::int64_t asked_bytes() const {
        std::int64_t bytes = 0;
        for (const Extent& one : asked) {
            bytes += one.length.bytes();
        }
        return bytes;
    }

    ReadAhead ahead;
    std::vector<Extent> asked;
};

// Reads that come one after another; from number `from` on all were asked for before.
struct Pattern {
    const char* name;
    std::vector<Extent> reads;
    std::size_t from;
    std::int64_t most;  // bytes asked for in all
};

std::vector<Extent> steps(std::int64_t begin, std::int64_t step, std::int64_t length, int count) {
    std::vector<Extent> reads;
    for (int i = 0; i < count; ++i) {
        reads.push_back(at(begin + i * step, length));
    }
    return reads;
}

// Rows of a plane: `row` reads `step` apart, and the next row `pitch` behind the last.
std::vector<Extent> rows(int count, int row, std::int64_t step, std::int64_t pitch,
                         std::int64_t length) {
    std::vector<Extent> reads;
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < row; ++j) {
            reads.push_back(at(i * pitch + j * step, length));
        }
    }
    return reads;
}

class Patterns : public testing::TestWithParam<Pattern> {};

TEST_P(Patterns, AreForeseen) {
    Guess guess;
    const Pattern& pattern = GetParam();
    for (std::size_t i = 0; i < pattern.reads.size(); ++i) {
        const Extent& read = pattern.reads[i];
        const std::int64_t known = guess.read(read);
        if (i >= pattern.from) {
            EXPECT_EQ(known, read.length.bytes()) << "read " << i;
        }
    }
    EXPECT_LE(guess.asked_bytes(), pattern.most);
}

INSTANTIATE_TEST_SUITE_P(
    ReadAhead, Patterns,
    testing::Values(
        Pattern{"OnwardsInSmallReads", steps(0, 4 * KiB, 4 * KiB, 10000), 2, 60 * MiB},
        Pattern{"OnwardsIn128KiB", steps(0, 128 * KiB, 128 * KiB, 512), 2, 84 * MiB},
        Pattern{"OnwardsInWholeBlocks", steps(7 * MiB, MiB, MiB, 100), 2, 120 * MiB},
        Pattern{"Backwards", steps(100 * MiB, -128 * KiB, 128 * KiB, 400), 3, 70 * MiB},
        Pattern{"BackwardsToTheBeginning", steps(3 * MiB, -64 * KiB, 64 * KiB, 49), 3, 5 * MiB},
        Pattern{"SmallSteps", steps(0, 16 * KiB, 4 * KiB, 4000), 5, 84 * MiB},
        Pattern{"SmallStepsBack", steps(90 * MiB, -16 * KiB, 4 * KiB, 4000), 5, 84 * MiB},
        Pattern{"LargeStepsFetchOnlyWhatIsRead", steps(0, 10 * MiB, 8 * KiB, 200), 5, 30 * MiB},
        Pattern{"LargeStepsOfLargeReads", steps(0, 16 * MiB, 2 * MiB, 60), 5, 200 * MiB},
        Pattern{"LargeStepsBack", steps(2000 * MiB, -8 * MiB, 64 * KiB, 100), 5, 24 * MiB},
        Pattern{"RowsOfSteps", rows(30, 4, 5 * MiB, 100 * MiB, 64 * KiB), 16, 20 * MiB},
        Pattern{"RowsOfReadsInARow", rows(60, 8, 64 * KiB, 20 * MiB, 64 * KiB), 32, 140 * MiB},
        Pattern{"TwoPlacesInTurn", rows(200, 2, 300 * MiB, MiB, MiB), 8, 450 * MiB}),
    [](const auto& info) { return std::string{info.param.name}; });

TEST(ReadAhead, RandomReadsAskForNothing) {
    std::mt19937_64 dice{7};
    Guess guess;
    for (int i = 0; i < 10000; ++i) {
        guess.read(at(static_cast<std::int64_t>(dice() % 100000) * 8 * KiB, 8 * KiB));
    }
    EXPECT_LE(guess.asked_bytes(), 4 * MiB);  // two that follow one another by chance
}

TEST(ReadAhead, ReadsOfDifferentLengthThatFollowOneAnotherAreForeseen) {
    Guess guess;
    std::int64_t begin = 0;
    for (int i = 0; i < 300; ++i) {
        const std::int64_t length = (1 + i * 7 % 13) * 16 * KiB;
        const std::int64_t known = guess.read(at(begin, length));
        if (i >= 2) {
            EXPECT_EQ(known, length) << i;
        }
        begin += length;
    }
}

TEST(ReadAhead, ASurpriseMakesTheWindowShort) {
    Guess guess;
    for (const Extent& read : steps(0, MiB, MiB, 64)) {
        guess.read(read);
    }
    const std::int64_t before = guess.asked_bytes();
    guess.read(at(500 * MiB, MiB));
    guess.read(at(501 * MiB, MiB));
    EXPECT_LE(guess.asked_bytes() - before, 4 * MiB);
}

TEST(ReadAhead, TheWindowGrowsNoFurtherThanTheShare) {
    ReadAhead ahead;
    ahead.direct(4096, 10'000'000);
    for (int i = 0; i < 200; ++i) {
        const Wishes wishes = ahead.note(at(i * MiB, MiB), 4);
        for (std::size_t j = 0; j < wishes.count; ++j) {
            EXPECT_LE(wishes.ranges[j].end().bytes(), (i + 1 + 4) * MiB);
        }
    }
    EXPECT_EQ(ahead.note(at(200 * MiB, MiB), 0).count, 0U) << "there is no memory";
}

TEST(ReadAhead, WhatTheKernelHasInItsCacheIsNotFetched) {
    ReadAhead ahead;
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(ahead.note(at(i * MiB, MiB), share).count, 0U);
        ahead.direct(MiB, 70'000);
    }
    ahead.direct(MiB, 20'000'000);
    EXPECT_EQ(ahead.note(at(200 * MiB, MiB), share).count, 1U);
}

TEST(ReadAhead, WhatIsReadAgainChangesNothing) {
    Guess guess;
    for (int i = 0; i < 20; ++i) {
        guess.read(at(i * 128 * KiB, 128 * KiB));
        guess.read(at(i * 128 * KiB, 128 * KiB));
    }
    EXPECT_TRUE(guess.covers(20 * 128 * KiB));
}

TEST(ReadAhead, ReadsThatGoRoundInACircleComeToAnEnd) {
    Guess guess;
    for (int turn = 0; turn < 20; ++turn) {
        for (const Extent& read : steps(0, 64 * KiB, 64 * KiB, 48)) {
            guess.read(read);
        }
    }
    EXPECT_TRUE(guess.covers(0));
}

TEST(ReadAhead, TheEndOfAllOffsetsIsNoStumblingBlock) {
    Guess guess;
    constexpr std::int64_t most = INT64_MAX;
    for (int i = 20; i > 0; --i) {
        guess.read(at(most - i * MiB - i, MiB));
        guess.read(at(most - i * 10 * MiB, 64 * KiB));
    }
    for (int i = 20; i > 0; --i) {
        guess.read(at(most - i * 20 * MiB, KiB));
    }
    guess.read(at(most - 64 * KiB, 64 * KiB));
}

}  // namespace
}  // namespace forebay::pool
