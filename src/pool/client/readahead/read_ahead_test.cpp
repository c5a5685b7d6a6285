// Tests which access patterns ReadAhead predicts, and that random reads fetch nothing.
#include "pool/client/readahead/read_ahead.hpp"

#include "foundation/base/bytes.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int32_t share = 16;

Extent at(std::int64_t begin, std::int64_t length) { return {Offset{begin}, Length{length}}; }

// A reader whose reads are slow unless their bytes were fetched ahead.
class Guess {
public:
    // The bytes of the read that had been asked for before it began.
    std::int64_t read(const Extent& range) {
        std::int64_t known = 0;
        constexpr std::int64_t part = 16 * kib;
        for (std::int64_t done = 0; done < range.length.bytes(); done += part) {
            const std::int64_t bytes = std::min(part, range.length.bytes() - done);
            known += covers(range.begin.bytes() + done) ? bytes : 0;
        }
        ahead.direct(4 * kib, 10'000'000);
        const PrefetchHints wishes = ahead.note(range, share);
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

// Consecutive reads, all of which, from number `from` on, were asked for before.
struct Pattern {
    const char* name;
    std::vector<Extent> reads;
    std::size_t from;
    std::int64_t most;  // bytes asked for in all, as a maximum
};

std::vector<Extent> steps(std::int64_t begin, std::int64_t step, std::int64_t length, int count) {
    std::vector<Extent> reads;
    for (int i = 0; i < count; ++i) {
        reads.push_back(at(begin + i * step, length));
    }
    return reads;
}

// Rows of a plane: `row` reads at distance `step`, and rows at distance `pitch`.
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
        Pattern{"OnwardsInSmallReads", steps(0, 4 * kib, 4 * kib, 10000), 2, 60 * mib},
        Pattern{"OnwardsIn128KiB", steps(0, 128 * kib, 128 * kib, 512), 2, 84 * mib},
        Pattern{"OnwardsInWholeBlocks", steps(7 * mib, mib, mib, 100), 2, 120 * mib},
        Pattern{"Backwards", steps(100 * mib, -128 * kib, 128 * kib, 400), 3, 70 * mib},
        Pattern{"BackwardsToTheBeginning", steps(3 * mib, -64 * kib, 64 * kib, 49), 3, 5 * mib},
        Pattern{"SmallSteps", steps(0, 16 * kib, 4 * kib, 4000), 5, 84 * mib},
        Pattern{"SmallStepsBack", steps(90 * mib, -16 * kib, 4 * kib, 4000), 5, 84 * mib},
        Pattern{"LargeStepsFetchOnlyWhatIsRead", steps(0, 10 * mib, 8 * kib, 200), 5, 30 * mib},
        Pattern{"LargeStepsOfLargeReads", steps(0, 16 * mib, 2 * mib, 60), 5, 200 * mib},
        Pattern{"LargeStepsBack", steps(2000 * mib, -8 * mib, 64 * kib, 100), 5, 24 * mib},
        Pattern{"RowsOfSteps", rows(30, 4, 5 * mib, 100 * mib, 64 * kib), 16, 20 * mib},
        Pattern{"RowsOfReadsInARow", rows(60, 8, 64 * kib, 20 * mib, 64 * kib), 32, 140 * mib},
        Pattern{"TwoPlacesInTurn", rows(200, 2, 300 * mib, mib, mib), 8, 450 * mib}),
    [](const auto& one) { return std::string{one.param.name}; });

TEST(ReadAhead, RandomReadsAskForNothing) {
    std::mt19937_64 dice{7};
    Guess guess;
    for (int i = 0; i < 10000; ++i) {
        guess.read(at(static_cast<std::int64_t>(dice() % 100000) * 8 * kib, 8 * kib));
    }
    EXPECT_LE(guess.asked_bytes(), 4 * mib);  // two reads may be consecutive by chance
}

TEST(ReadAhead, ReadsOfDifferentLengthThatFollowOneAnotherAreForeseen) {
    Guess guess;
    std::int64_t begin = 0;
    for (int i = 0; i < 300; ++i) {
        const std::int64_t length = (1 + i * 7 % 13) * 16 * kib;
        const std::int64_t known = guess.read(at(begin, length));
        if (i >= 2) {
            EXPECT_EQ(known, length) << i;
        }
        begin += length;
    }
}

// If few nodes read a file for all of them, their daemon fetches everything, also what the kernel's
// page cache has.
TEST(ReadAhead, WhatIsLeftToTheDaemonIsAskedForAtOnce) {
    ReadAhead ahead;
    ahead.leave_to_daemon();
    const auto asked = [&](const Extent& read) {
        const PrefetchHints wishes = ahead.note(read, share);
        return wishes.count == 1 ? wishes.ranges[0] : Extent{};
    };
    EXPECT_EQ(asked(at(0, 100)), at(0, mib));
    EXPECT_TRUE(ahead.asked(50));
    EXPECT_EQ(asked(at(7 * mib + 70 * kib, 100)), at(7 * mib + 64 * kib, 64 * kib));
    EXPECT_EQ(asked(at(3 * mib, 2 * mib)), at(3 * mib, 2 * mib));
}

TEST(ReadAhead, ASurpriseMakesTheWindowShort) {
    Guess guess;
    for (const Extent& read : steps(0, mib, mib, 64)) {
        guess.read(read);
    }
    const std::int64_t before = guess.asked_bytes();
    guess.read(at(500 * mib, mib));
    guess.read(at(501 * mib, mib));
    EXPECT_LE(guess.asked_bytes() - before, 4 * mib);
}

TEST(ReadAhead, TheWindowGrowsNoFurtherThanTheShare) {
    ReadAhead ahead;
    ahead.direct(4096, 10'000'000);
    for (int i = 0; i < 200; ++i) {
        const PrefetchHints wishes = ahead.note(at(i * mib, mib), 4);
        for (std::size_t j = 0; j < wishes.count; ++j) {
            EXPECT_LE(wishes.ranges[j].end().bytes(), (i + 1 + 4) * mib);
        }
    }
    EXPECT_EQ(ahead.note(at(200 * mib, mib), 0).count, 0U) << "there is no memory";
}

TEST(ReadAhead, WhatTheKernelHasInItsCacheIsNotFetched) {
    ReadAhead ahead;
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(ahead.note(at(i * mib, mib), share).count, 0U);
        ahead.direct(mib, 70'000);
    }
    ahead.direct(mib, 20'000'000);
    EXPECT_EQ(ahead.note(at(200 * mib, mib), share).count, 1U);
}

TEST(ReadAhead, WhatIsReadAgainChangesNothing) {
    Guess guess;
    for (int i = 0; i < 20; ++i) {
        guess.read(at(i * 128 * kib, 128 * kib));
        guess.read(at(i * 128 * kib, 128 * kib));
    }
    EXPECT_TRUE(guess.covers(20 * 128 * kib));
}

TEST(ReadAhead, ReadsThatGoRoundInACircleComeToAnEnd) {
    Guess guess;
    for (int turn = 0; turn < 20; ++turn) {
        for (const Extent& read : steps(0, 64 * kib, 64 * kib, 48)) {
            guess.read(read);
        }
    }
    EXPECT_TRUE(guess.covers(0));
}

TEST(ReadAhead, TheEndOfAllOffsetsIsNoStumblingBlock) {
    Guess guess;
    constexpr std::int64_t most = INT64_MAX;
    for (int i = 20; i > 0; --i) {
        guess.read(at(most - i * mib - i, mib));
        guess.read(at(most - i * 10 * mib, 64 * kib));
    }
    for (int i = 20; i > 0; --i) {
        guess.read(at(most - i * 20 * mib, kib));
    }
    guess.read(at(most - 64 * kib, 64 * kib));
}

}  // namespace
}  // namespace forebay::pool
