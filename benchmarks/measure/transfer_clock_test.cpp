// Compares TransferClock with CLOCK_MONOTONIC read before and after it.
#include "benchmarks/measure/transfer_clock.hpp"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace forebay::measure {
namespace {

// Busy-waits instead of sleeping, since clocks are under test.
void until_it_is_later_by(std::int64_t nanoseconds) {
    for (const std::int64_t begin = now_ns(); now_ns() - begin < nanoseconds;) {
    }
}

class Clocks : public ::testing::TestWithParam<bool> {};

TEST_P(Clocks, PassAsClockMonotonicDoes) {
    const TransferClock clock(TransferClock::reading(), GetParam());
    const std::int64_t outer_begin = now_ns();
    const std::int64_t begin = clock.now_ns();
    const std::int64_t inner_begin = now_ns();
    until_it_is_later_by(20'000'000);
    const std::int64_t inner_end = now_ns();
    const std::int64_t end = clock.now_ns();
    const std::int64_t outer_end = now_ns();
    // The difference allowed between both clocks.
    const std::int64_t off = (outer_end - outer_begin) / 1000;
    EXPECT_GE(end - begin, inner_end - inner_begin - off);
    EXPECT_LE(end - begin, outer_end - outer_begin + off);
}

TEST_P(Clocks, NeverGoBack) {
    const TransferClock clock(TransferClock::reading(), GetParam());
    std::int64_t last = clock.now_ns();
    for (int i = 0; i < 100'000; ++i) {
        const std::int64_t now = clock.now_ns();
        ASSERT_GE(now, last);
        last = now;
    }
}

INSTANTIATE_TEST_SUITE_P(Both, Clocks, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Ticks" : "System"; });

TEST(ReadsTicks, WhereTheKernelDoes) {
    const std::string path = ::testing::TempDir() + "clocksource";
    for (const auto& [name, expected] :
         {std::pair{"tsc\n", true}, std::pair{"kvm-clock\n", false}, std::pair{"", false}}) {
        std::ofstream(path) << name;
#if defined(__x86_64__)
        EXPECT_EQ(reads_ticks(path.c_str()), expected) << name;
#else
        EXPECT_FALSE(reads_ticks(path.c_str()));
#endif
    }
    std::remove(path.c_str());
    EXPECT_FALSE(reads_ticks(path.c_str()));
}

}  // namespace
}  // namespace forebay::measure
