// Coverage against one flag for each byte.
#include "pattern/coverage.hpp"

#include "pattern/oracle.hpp"
#include "pattern/oracle_gen.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <thread>

namespace forebay::pattern {
namespace {

class Marked {
public:
    Marked(std::int64_t bytes, std::int64_t granularity)
        : words(Coverage::words_for(bytes, granularity)), coverage(words, bytes, granularity) {
        coverage.clear();
    }
    std::vector<Coverage::Bits> words;
    Coverage coverage;
};

// Holds what `coverage` says against one flag a byte.
void expect_same(const Coverage& coverage, const std::vector<char>& flags) {
    const auto size = static_cast<std::int64_t>(flags.size());
    std::int64_t covered = 0;
    for (std::int64_t from = 0; from <= size; ++from) {
        std::int64_t begin = from;
        while (begin < size && flags[static_cast<std::size_t>(begin)] == 0) {
            ++begin;
        }
        std::int64_t end = begin;
        while (end < size && flags[static_cast<std::size_t>(end)] != 0) {
            ++end;
        }
        const Coverage::Run run = coverage.next_run(from);
        RC_ASSERT(run.length == end - begin);
        RC_ASSERT(run.begin == begin);
        covered += from < size && flags[static_cast<std::size_t>(from)] != 0 ? 1 : 0;
    }
    RC_ASSERT(coverage.covered_bytes() == covered);
    RC_ASSERT(coverage.full() == (covered == size));
}

RC_GTEST_PROP(Coverage, SaysWhatWasMarked, ()) {
    const auto bytes = *oracle::arbitrary_bytes();
    oracle::Choices choices(bytes);
    const std::int64_t unit = std::int64_t{1} << choices.below(5);
    const std::int64_t image = choices.below(3000);
    Marked marked(image, unit);
    std::vector<char> flags(static_cast<std::size_t>(image), 0);
    for (std::int64_t n = choices.below(8); n > 0 && image > 0; --n) {
        const std::int64_t at = choices.below(image) / unit * unit;
        const std::int64_t length = unit * choices.between(0, 8);
        const std::int64_t stride = unit * choices.between(0, 80);
        std::int64_t count = choices.between(0, 70);
        while (count > 0 && at + length + stride * (count - 1) > image) {
            --count;
        }
        if (length > 0 && choices.below(2) == 0) {
            std::vector<std::int64_t> addresses;
            for (std::int64_t i = 0; i < count; ++i) {
                addresses.push_back(at + i * stride);
            }
            const std::vector<std::int64_t> lengths(addresses.size(), length);
            choices.below(2) == 0 ? marked.coverage.mark_pieces(addresses, length)
                                  : marked.coverage.mark_pieces(addresses, lengths);
        } else {
            marked.coverage.mark_strided(at, length, stride, count);
        }
        for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t k = 0; k < length; ++k) {
                flags[static_cast<std::size_t>(at + i * stride + k)] = 1;
            }
        }
        if (choices.below(4) == 0) {  // up to the end, which may cut a unit
            marked.coverage.mark(at, image - at);
            std::fill(flags.begin() + at, flags.end(), 1);
        }
    }
    expect_same(marked.coverage, flags);
}

TEST(Coverage, Words) {
    EXPECT_EQ(Coverage::words_for(0, 1), 0U);
    EXPECT_EQ(Coverage::words_for(64, 1), 1U);
    EXPECT_EQ(Coverage::words_for(65, 1), 2U);
    EXPECT_EQ(Coverage::words_for(1, 4096), 1U);
    EXPECT_EQ(Coverage::words_for(std::int64_t{1} << 20, 16), 1024U);
}

TEST(Coverage, EmptyImageIsFull) {
    const Marked marked(0, 8);
    EXPECT_TRUE(marked.coverage.full());
    EXPECT_EQ(marked.coverage.next_run(0).length, 0);
}

TEST(Coverage, SeveralThreadsMarkTheSameWords) {
    Marked marked(1 << 16, 1);
    const auto mark = [&](std::int64_t phase) {
        for (std::int64_t i = 0; i < 1 << 13; ++i) {
            marked.coverage.mark(8 * i + phase, 1);
        }
        marked.coverage.mark_strided(phase + 4, 1, 8, 1 << 13);
    };
    {
        const std::vector<int> phases{0, 1, 2, 3};
        std::vector<std::jthread> threads;
        for (const int phase : phases) {
            threads.emplace_back(mark, phase);
        }
    }
    EXPECT_TRUE(marked.coverage.full());
}

TEST(CoverageDeathTest, WhatIsNotAMultipleIsNotRounded) {
    Marked marked(100, 8);
    EXPECT_DEATH(marked.coverage.mark(4, 8), "multiples of the granularity");
    EXPECT_DEATH(marked.coverage.mark(96, 8), "lies in the image");
    EXPECT_DEATH(marked.coverage.mark_strided(0, 8, 12, 3), "granularity");
    marked.coverage.mark(96, 4);
    EXPECT_EQ(marked.coverage.covered_bytes(), 4);
}

}  // namespace
}  // namespace forebay::pattern
