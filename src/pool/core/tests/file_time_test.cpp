// The time of a change is that of the kernel's last tick before it.
#include "pool/core/ingest/file_time.hpp"

#include <gtest/gtest.h>

namespace forebay::pool {
namespace {

// The clock is 1000 behind the calendar; the last tick was 3 ago, and ticks come every 10.
constexpr FileTimes times{
    .clock_ns = 5000, .calendar_ns = 6000, .last_tick_ns = 5997, .tick_ns = 10};

TEST(FileTime, AChangeHasTheTimeOfTheTickBeforeIt) {
    EXPECT_EQ(times.of_change_at(5000), 5997);
    EXPECT_EQ(times.of_change_at(4997), 5997) << "at the tick itself";
    EXPECT_EQ(times.of_change_at(4996), 5987);
    EXPECT_EQ(times.of_change_at(4987), 5987);
    EXPECT_EQ(times.of_change_at(4986), 5977);
    EXPECT_EQ(times.now(), 5997);
}

TEST(FileTime, NeverIsLaterThanTheChange) {
    for (std::int64_t change = 4900; change <= 5000; ++change) {
        EXPECT_LE(times.of_change_at(change), change + 1000);
        EXPECT_GT(times.of_change_at(change), change + 1000 - 10);
    }
}

TEST(FileTime, WithoutTicksIsTheTimeOfTheChange) {
    EXPECT_EQ((FileTimes{.clock_ns = 50, .calendar_ns = 60}).of_change_at(42), 52);
}

}  // namespace
}  // namespace forebay::pool
