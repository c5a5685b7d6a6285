// When threads yield and when they sleep, after yields of given durations.
#include "foundation/base/yielding.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

constexpr std::int64_t slice_ns = 4'000'000;

class Waiting : public testing::Test {
protected:
    // Yields the core, and gets it back after `away_ns`.
    void yield(std::int64_t away_ns) {
        yielding.was_away(now, now + away_ns);
        now += away_ns;
    }
    // Checks that no thread yields for `sleeps_ns` from now on.
    void expect_sleep(std::int64_t sleeps_ns) const {
        EXPECT_FALSE(yielding.pays_at(now));
        EXPECT_FALSE(yielding.pays_at(now + sleeps_ns - 1));
        EXPECT_TRUE(yielding.pays_at(now + sleeps_ns));
    }

    CoreYielding yielding;
    std::int64_t now = 1'000'000'000'000;
};

TEST_F(Waiting, WhoHasTheCoreBackSoonGoesOn) {
    yield(CoreYielding::lost_ns);
    EXPECT_TRUE(yielding.pays_at(now));
}

TEST_F(Waiting, WhoLostATimeSliceSleepsForAWhile) {
    yield(slice_ns);
    expect_sleep(CoreYielding::sleeps_ns_min);
}

TEST_F(Waiting, WhoLosesOneAgainSleepsLonger) {
    for (std::int64_t sleeps = CoreYielding::sleeps_ns_min; sleeps < CoreYielding::sleeps_ns_max;
         sleeps *= 2) {
        yield(slice_ns);
        expect_sleep(sleeps);
        now += sleeps;
    }
    for (int i = 0; i < 3; ++i) {
        yield(slice_ns);
        expect_sleep(CoreYielding::sleeps_ns_max);
    }
}

TEST_F(Waiting, WhatWasLostIsForgottenWhenYieldsGoWell) {
    yield(slice_ns);
    yield(slice_ns);
    for (std::uint32_t i = 0; i <= CoreYielding::went_well_min; ++i) {
        yield(1000);
    }
    yield(slice_ns);
    expect_sleep(CoreYielding::sleeps_ns_min);
}

}  // namespace
}  // namespace forebay
