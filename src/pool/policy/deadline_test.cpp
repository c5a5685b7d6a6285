// Tests when the pool stops taking deposits before the batch job ends.
#include "pool/policy/deadline.hpp"

#include <gtest/gtest.h>

namespace forebay::pool {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t s = 1000 * ms;
constexpr std::int64_t mb = 1'000'000;
constexpr std::int64_t end = 1'800'000'000 * s;

// Drains 10 MB/s for `seconds` seconds, beginning `ago` ns before the end of the job, and asks for
// the deadline each 100 ms. Returns the bytes drained by then.
std::int64_t drain(DrainDeadline& deadline, std::int64_t ago, std::int64_t seconds) {
    std::int64_t drained = 0;
    for (std::int64_t tick = 0; tick <= 10 * seconds; ++tick) {
        drained = tick * mb;
        EXPECT_FALSE(deadline.passed(end - ago + tick * 100 * ms, 5 * mb, drained));
    }
    return drained;
}

TEST(DrainDeadline, NoJobNoDeadline) {
    DrainDeadline none{DrainDeadline::never, 60 * s};
    EXPECT_FALSE(none.passed(end, 100 * mb, 0));
}

TEST(DrainDeadline, TheMarginCountsWhereNothingIsHeld) {
    DrainDeadline deadline{end, 60 * s};
    EXPECT_FALSE(deadline.passed(end - 61 * s, 0, 0));
    EXPECT_TRUE(deadline.passed(end - 60 * s, 0, 0));
    EXPECT_TRUE(deadline.passed(end + s, 0, 0)) << "the job should be over";
}

TEST(DrainDeadline, WhatIsHeldNeedsItsTimeTwice) {
    DrainDeadline deadline{end, 60 * s};
    const std::int64_t drained = drain(deadline, 1000 * s, 10);
    // 500 MB take 50 s.
    EXPECT_FALSE(deadline.passed(end - 161 * s, 500 * mb, drained));
    EXPECT_TRUE(deadline.passed(end - 159 * s, 500 * mb, drained));
}

TEST(DrainDeadline, OnlyTheMarginCountsWhereNoRateIsKnown) {
    DrainDeadline deadline{end, 60 * s};
    EXPECT_FALSE(deadline.passed(end - 1000 * s, 100 * mb, 0));
    EXPECT_FALSE(deadline.passed(end - 61 * s, 5000 * mb, 60 * mb));
}

TEST(DrainDeadline, LittleNowAndThenSaysNothingOfTheFileSystem) {
    DrainDeadline deadline{end, 0};
    std::int64_t drained = 0;
    for (std::int64_t ago = 36'000; ago > 100; --ago) {  // 100 bytes in each second
        EXPECT_FALSE(deadline.passed(end - ago * s, 100, drained));
        drained += 100;
        EXPECT_FALSE(deadline.passed(end - ago * s + 60 * ms, 0, drained));
    }
    EXPECT_FALSE(deadline.passed(end - 100 * s, 50 * mb, drained));
}

TEST(DrainDeadline, NorDoesAFileThatIsWrittenAllTheTime) {
    DrainDeadline deadline{end, 0};
    for (std::int64_t ago = 36'000; ago > 100; --ago) {  // 20 kB in each second
        EXPECT_FALSE(deadline.passed(end - ago * s, 1000, (36'000 - ago) * 20'000));
    }
    EXPECT_FALSE(deadline.passed(end - 100 * s, 50 * mb, 36'000 * 20'000));
}

TEST(DrainDeadline, TheBestRateCounts) {
    DrainDeadline deadline{end, 0};
    std::int64_t drained = drain(deadline, 1000 * s, 10);
    for (std::int64_t tick = 1; tick <= 200; ++tick) {  // something else takes half of it
        drained += mb / 2;
        EXPECT_FALSE(deadline.passed(end - 900 * s + tick * 100 * ms, 5 * mb, drained));
    }
    EXPECT_FALSE(deadline.passed(end - 101 * s, 500 * mb, drained));
    EXPECT_TRUE(deadline.passed(end - 99 * s, 500 * mb, drained));
}

TEST(DrainDeadline, AClockThatJumpsIsNotTime) {
    DrainDeadline deadline{end, 0};
    EXPECT_FALSE(deadline.passed(s, 100 * mb, 0)) << "before the clock was set";
    EXPECT_FALSE(deadline.passed(end - 1000 * s, 100 * mb, 100 * mb));
    EXPECT_FALSE(deadline.passed(end - 21 * s, 100 * mb, 100 * mb));
}

}  // namespace
}  // namespace forebay::pool
