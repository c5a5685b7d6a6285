// The age of a process, from texts like the kernel's and from its own.
#include "storage/posix/clock.hpp"

#include <gtest/gtest.h>
#include <string>

namespace forebay::adapters {
namespace {

// The fields 3 to 21 of a stat file, which are between the name and the start.
const std::string between = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 ";

TEST(Clock, FindsTheStartBehindANameWithSpacesAndBrackets) {
    EXPECT_EQ(start_ticks_in("42 (a (b) c)" + between + "4711 20 21"), 4711);
}

TEST(Clock, TakesNoOtherTextForAStart) {
    for (const std::string& text : {std::string(), std::string("42 (a"),
                                    "42 (a)" + between.substr(0, 9), "42 (a)" + between + "x 20"}) {
        EXPECT_EQ(start_ticks_in(text), std::nullopt) << text;
    }
}

TEST(Clock, AProcessIsOlderThanItsTests) {
    const SteadyClock clock;
    const std::int64_t begin = clock.now_ns();
    const auto age = process_age_ns();
    ASSERT_TRUE(age.has_value());
    constexpr std::int64_t hour_ns = 3'600'000'000'000;
    EXPECT_GE(*age, 0);
    EXPECT_LT(*age, hour_ns);
    const auto later = process_age_ns();
    EXPECT_LE(*later - *age, clock.now_ns() - begin);
}

}  // namespace
}  // namespace forebay::adapters
