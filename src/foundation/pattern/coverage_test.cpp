// Compares coverage with one flag per byte.
#include "foundation/pattern/coverage.hpp"

#include "foundation/pattern/coverage_check.hpp"
#include "foundation/pattern/oracle_gen.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <thread>

namespace forebay::pattern {
namespace {

using oracle::Marked;

RC_GTEST_PROP(Coverage, SaysWhatWasMarked, ()) {
    const auto bytes = *oracle::arbitrary_bytes();
    oracle::Choices choices(bytes);
    const char* const wrong = oracle::wrong_with_marking(choices);
    if (wrong != nullptr) {
        RC_FAIL(wrong);
    }
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
