// Tests the read-ahead of the mode `paper`: which ranges it asks for, and that it never asks twice.
#include "pool/client/readahead/paper_read_ahead.hpp"

#include "foundation/base/bytes.hpp"
#include "pool/client/readahead/read_ahead_policy.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace forebay::pool {
namespace {

Extent at(std::int64_t begin, std::int64_t length) { return {Offset{begin}, Length{length}}; }

std::vector<Extent> list(const PrefetchHints& wishes) {
    return {wishes.ranges.begin(),
            wishes.ranges.begin() + static_cast<std::ptrdiff_t>(wishes.count)};
}

// All ranges that the policy asks for.
std::vector<Extent> asked_by(PaperReadAhead& ahead, const std::vector<Extent>& reads,
                             std::int32_t share) {
    std::vector<Extent> all;
    for (const Extent& read : reads) {
        const auto some = list(ahead.note(read, share));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::vector<Extent> steps(std::int64_t begin, std::int64_t step, std::int64_t length, int count) {
    std::vector<Extent> reads;
    for (int i = 0; i < count; ++i) {
        reads.push_back(at(begin + i * step, length));
    }
    return reads;
}

TEST(PaperReadAhead, TheSecondOfTwoReadsThatFollowAsksForAllBlocksOfTheShare) {
    PaperReadAhead ahead;
    EXPECT_TRUE(list(ahead.note(at(0, 128 * kib), 16)).empty());
    EXPECT_EQ(list(ahead.note(at(128 * kib, 128 * kib), 16)), std::vector{at(0, 16 * mib)});
    EXPECT_TRUE(ahead.asked(15 * mib));
    EXPECT_FALSE(ahead.asked(16 * mib));
}

TEST(PaperReadAhead, EachBlockIsAskedForOnceAndInOrder) {
    PaperReadAhead ahead;
    std::int64_t known = 0;
    for (const Extent& one : asked_by(ahead, steps(0, 128 * kib, 128 * kib, 400), 4)) {
        EXPECT_EQ(one.begin.bytes(), known);
        EXPECT_EQ(one.length.bytes() % mib, 0) << "whole blocks";
        known = one.end().bytes();
    }
    EXPECT_EQ(known, 50 * mib + 4 * mib);
}

TEST(PaperReadAhead, AConstantStrideAsksForTheBlocksOfTheReadsToCome) {
    PaperReadAhead ahead;
    EXPECT_TRUE(asked_by(ahead, steps(0, 10 * mib, 8 * kib, 2), 8).empty())
        << "one distance is none that came again";
    EXPECT_EQ(
        list(ahead.note(at(20 * mib, 8 * kib), 8)),
        (std::vector{at(30 * mib, mib), at(40 * mib, mib), at(50 * mib, mib), at(60 * mib, mib)}));
    EXPECT_EQ(list(ahead.note(at(30 * mib, 8 * kib), 8)), std::vector{at(70 * mib, mib)});
}

TEST(PaperReadAhead, ASmallStrideAsksForBlocksThatFollowOneAnother) {
    PaperReadAhead ahead;
    const auto asked = asked_by(ahead, steps(0, 64 * kib, 4 * kib, 100), 4);
    for (std::size_t i = 1; i < asked.size(); ++i) {
        EXPECT_EQ(asked[i].begin, asked[i - 1].end());
    }
    EXPECT_EQ(asked.back().end().bytes(), 6 * mib + 4 * mib);
}

TEST(PaperReadAhead, NothingElseIsRecognised) {
    PaperReadAhead backwards;
    EXPECT_TRUE(asked_by(backwards, steps(900 * mib, -mib, mib, 100), 16).empty());
    PaperReadAhead nested;
    std::vector<Extent> rows;
    for (int i = 0; i < 40; ++i) {
        rows.push_back(at(i / 2 * 100 * mib + i % 2 * 5 * mib, 64 * kib));
    }
    EXPECT_TRUE(asked_by(nested, rows, 16).empty());
    PaperReadAhead random;
    std::mt19937_64 dice{7};
    std::vector<Extent> reads;
    for (int i = 0; i < 10000; ++i) {
        reads.push_back(at(static_cast<std::int64_t>(dice() % 1'000'000) * 8 * kib, 8 * kib));
    }
    EXPECT_LE(asked_by(random, reads, 16).size(), 2U) << "some that follow by chance";
}

TEST(PaperReadAhead, WithoutAShareNothingIsAskedFor) {
    PaperReadAhead ahead;
    EXPECT_TRUE(asked_by(ahead, steps(0, mib, mib, 100), 0).empty());
}

TEST(PaperReadAhead, TheEndOfAllOffsetsIsNoStumblingBlock) {
    PaperReadAhead ahead;
    for (const std::int64_t step : {mib, 10 * mib, 64 * kib}) {
        for (int i = 20; i > 0; --i) {
            const auto some = list(ahead.note(at(INT64_MAX - i * step, step), 16));
            EXPECT_TRUE(std::ranges::none_of(some, &Extent::empty));
        }
    }
}

TEST(ReadAheadPolicy, GuessesAsTheDaemonCaches) {
    ReadAheadPolicy own;
    ReadAheadPolicy paper;
    own.use(CacheConsistency::pool);
    paper.use(CacheConsistency::paper);
    EXPECT_FALSE(own.worthwhile()) << "nothing was slow yet";
    EXPECT_TRUE(paper.worthwhile());
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(own.note(at(i * mib, mib), 16).count, 0U);
        EXPECT_EQ(paper.note(at(i * mib, mib), 16).count, static_cast<std::size_t>(i));
    }
    EXPECT_TRUE(paper.asked(3 * mib));
    EXPECT_FALSE(own.asked(3 * mib));
}

}  // namespace
}  // namespace forebay::pool
