// Tests the limit on the daemon's processor time.
#include "pool/policy/processor_share.hpp"

#include <gtest/gtest.h>

namespace forebay::pool {
namespace {

constexpr std::int64_t ms = 1'000'000;

TEST(ProcessorShare, OneProcessorIsNeverTooMuch) {
    ProcessorShare effort;
    for (std::int64_t now = 0; now < 1000 * ms; now += ms) {
        EXPECT_FALSE(effort.rests(now, now));
    }
}

TEST(ProcessorShare, TwoAreForABurst) {
    ProcessorShare effort;
    EXPECT_FALSE(effort.rests(0, 0));
    EXPECT_FALSE(effort.rests(50 * ms, 100 * ms));
    EXPECT_TRUE(effort.rests(51 * ms, 102 * ms));
    EXPECT_FALSE(effort.rests(52 * ms, 102 * ms)) << "it has rested";
    EXPECT_FALSE(effort.rests(1000 * ms, 102 * ms));
    EXPECT_TRUE(effort.rests(1051 * ms, 204 * ms)) << "a long rest is not saved up";
}

TEST(ProcessorShare, InTheLongRunItIsOne) {
    ProcessorShare effort;
    std::int64_t processor = 0;
    for (std::int64_t now = 0; now < 10'000 * ms; now += ms) {
        processor += effort.rests(now, processor) ? 0 : 2 * ms;
    }
    EXPECT_LE(processor, 10'000 * ms + ProcessorShare::burst_ns + 2 * ms);
    EXPECT_GE(processor, 9'900 * ms);
}

TEST(ProcessorShare, ARestEndsWhateverElseTakesTheProcessors) {
    ProcessorShare effort;
    std::int64_t begun = 0;
    for (std::int64_t now = 0; now < 10'000 * ms; now += ms) {
        begun += effort.rests(now, 2 * now) ? 0 : 1;
    }
    EXPECT_GE(begun, 10'000 * ms / ProcessorShare::rest_ns - 1);
}

}  // namespace
}  // namespace forebay::pool
