#include "pool/plan/deadline.hpp"

#include <gtest/gtest.h>

namespace forebay::pool {
namespace {

constexpr std::int64_t s = 1'000'000'000;
constexpr std::int64_t mb = 1'000'000;
constexpr std::int64_t end = 1'800'000'000 * s;

TEST(Deadline, NoJobNoDeadline) {
    Deadline none{Deadline::never, 60 * s};
    EXPECT_FALSE(none.passed(end, 100 * mb, 0));
}

TEST(Deadline, TheMarginCountsWhereNothingIsHeld) {
    Deadline deadline{end, 60 * s};
    EXPECT_FALSE(deadline.passed(end - 61 * s, 0, 0));
    EXPECT_TRUE(deadline.passed(end - 60 * s, 0, 0));
    EXPECT_TRUE(deadline.passed(end + s, 0, 0)) << "the job should be over";
}

TEST(Deadline, WhatIsHeldNeedsItsTimeTwice) {
    Deadline deadline{end, 60 * s};
    EXPECT_FALSE(deadline.passed(end - 1000 * s, 100 * mb, 0)) << "no rate is known";
    // 100 MB in 10 s; 500 MB take 50 s.
    EXPECT_FALSE(deadline.passed(end - 990 * s, 0, 100 * mb));
    EXPECT_FALSE(deadline.passed(end - 161 * s, 500 * mb, 100 * mb));
    EXPECT_TRUE(deadline.passed(end - 160 * s, 500 * mb, 100 * mb));
}

TEST(Deadline, IdleTimeDoesNotMakeDrainingSlow) {
    Deadline deadline{end, 0};
    EXPECT_FALSE(deadline.passed(end - 9000 * s, 100 * mb, 0));
    for (std::int64_t ago = 8999; ago >= 100; --ago) {
        EXPECT_FALSE(deadline.passed(end - ago * s, 0, 100 * mb));
    }
    EXPECT_FALSE(deadline.passed(end - 21 * s, 1000 * mb, 100 * mb)) << "1 s for 100 MB";
}

TEST(Deadline, AClockThatJumpsIsNotTime) {
    Deadline deadline{end, 0};
    EXPECT_FALSE(deadline.passed(s, 100 * mb, 0)) << "before the clock was set";
    EXPECT_FALSE(deadline.passed(end - 1000 * s, 0, 100 * mb));
    EXPECT_FALSE(deadline.passed(end - 21 * s, 100 * mb, 100 * mb)) << "10 s at most between looks";
}

}  // namespace
}  // namespace forebay::pool
