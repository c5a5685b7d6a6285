// Samples of a pool's counts: evenly spaced, bounded, from the first moment to the last.
#include "pool/daemon/status/count_samples.hpp"

#include <gtest/gtest.h>

namespace forebay::daemon {
namespace {

constexpr std::int64_t begin_ns = 7'000'000'000;
constexpr std::int64_t millisecond = 1'000'000;

SampledCounts taken(std::int64_t bytes) { return {.taken = bytes}; }

TEST(CountSamples, AreBoundedAndEvenlySpacedFromTheStartToTheEnd) {
    constexpr std::size_t samples_max = 40;
    CountSamples samples{samples_max};
    std::int64_t now = begin_ns;
    for (int round = 0; round < 100'000; ++round, now += millisecond) {
        if (samples.is_due(now)) {
            samples.add(taken(now - begin_ns), now, 0);
            ASSERT_LT(samples.all().size(), samples_max);
            ASSERT_EQ(samples.all().back().since_ns, now - begin_ns) << "the newest was dropped";
        }
    }
    const auto& all = samples.all();
    ASSERT_GT(all.size(), samples_max / 3);
    // 100 s in at most 40 samples: the interval is 4 s, and just before the next halving 2 s.
    for (std::size_t i = 1; i < all.size(); ++i) {
        const std::int64_t step = all[i].since_ns - all[i - 1].since_ns;
        EXPECT_GE(step, 2'000 * millisecond);
        EXPECT_LE(step, 8'000 * millisecond) << "there is a gap";
        EXPECT_EQ(all[i].counts.taken, all[i].since_ns);
    }
    EXPECT_LE(all.front().since_ns, 8'000 * millisecond);
}

TEST(CountSamples, AMomentIsSampledOnceAndTheFirstIsTheBeginning) {
    CountSamples samples{10};
    ASSERT_TRUE(samples.is_due(begin_ns));
    samples.add(taken(0), begin_ns, 0);
    EXPECT_FALSE(samples.is_due(begin_ns + CountSamples::first_interval_ns - 1));
    EXPECT_TRUE(samples.is_due(begin_ns + CountSamples::first_interval_ns));
    samples.add(taken(1), begin_ns + 5, 0);
    samples.add(taken(2), begin_ns + 5, 0);
    ASSERT_EQ(samples.all().size(), 2U);
    EXPECT_EQ(samples.all()[0].since_ns, 0);
    EXPECT_EQ(samples.all()[1].counts, taken(1));
}

TEST(CountSamples, CountsThatTakeLongAreTakenSeldom) {
    CountSamples samples{10};
    ASSERT_TRUE(samples.is_due(begin_ns));
    samples.add(taken(0), begin_ns, 100 * millisecond);
    EXPECT_FALSE(samples.is_due(begin_ns + 4'999 * millisecond));
    EXPECT_TRUE(samples.is_due(begin_ns + 5'000 * millisecond));
}

TEST(CountSamples, NoneIsTakenWhereNoneIsWanted) {
    for (const std::size_t samples_max : {0U, 1U}) {
        CountSamples samples{samples_max};
        EXPECT_FALSE(samples.is_due(begin_ns));
        samples.add(taken(1), begin_ns, 0);
        EXPECT_TRUE(samples.all().empty());
    }
}

}  // namespace
}  // namespace forebay::daemon
