// Runs that a budget allows or refuses, and the wording of the refusal.
#include "benchmarks/measure/budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::measure {
namespace {

using testing::HasSubstr;

RunEstimate some() {
    RunEstimate made;
    made.bytes_written = 16 << 20;
    made.bytes_kept_max = 16 << 20;
    made.files = 4;
    return made;
}

TEST(Budget, without_limits_allows_everything) { EXPECT_TRUE(allowed(some(), {}, 0).has_value()); }

TEST(Budget, refuses_bytes_files_time_and_share) {
    Budget bytes;
    bytes.bytes = 1 << 20;
    EXPECT_THAT(allowed(some(), bytes, {}).error().message, HasSubstr("--budget-bytes"));
    Budget files;
    files.files = 3;
    EXPECT_THAT(allowed(some(), files, {}).error().message, HasSubstr("files made: 4"));
    Budget time;
    time.seconds = 10;
    EXPECT_TRUE(allowed(some(), time, {}).has_value());
    RunEstimate longer = some();
    longer.seconds = 11;
    EXPECT_THAT(allowed(longer, time, {}).error().message, HasSubstr("it can take 11 s"));
    longer.seconds.reset();
    longer.seconds_min = 12;
    EXPECT_THAT(allowed(longer, time, {}).error().message, HasSubstr("it takes 12 s"));
    Budget share;
    share.free_share = 0.01;
    EXPECT_TRUE(allowed(some(), share, {}).has_value());
    EXPECT_TRUE(allowed(some(), share, std::int64_t{2} << 30).has_value());
    EXPECT_THAT(allowed(some(), share, std::int64_t{1} << 30).error().message,
                HasSubstr("1 % of 1 GiB free"));
}

TEST(Budget, estimate_reads_as_a_sentence) {
    EXPECT_EQ(describe(some()),
              "writes 16 MiB into 4 files, reads 0 bytes, holds 16 MiB at a time, "
              "time not known before");
    RunEstimate timed = some();
    timed.seconds_min = 3;
    timed.seconds = 600;
    EXPECT_THAT(describe(timed), HasSubstr("a time, at least 3 s, at most 600 s"));
}

TEST(Budget, times_and_shares_are_parsed) {
    EXPECT_DOUBLE_EQ(parse_seconds("90s").value_or(-1), 90);
    EXPECT_DOUBLE_EQ(parse_seconds("1.5m").value_or(-1), 90);
    EXPECT_FALSE(parse_seconds("soon").has_value());
    EXPECT_DOUBLE_EQ(parse_share("10%").value_or(-1), 0.1);
    EXPECT_DOUBLE_EQ(parse_share("0.25").value_or(-1), 0.25);
    EXPECT_FALSE(parse_share("150%").has_value());
}

}  // namespace
}  // namespace forebay::measure
