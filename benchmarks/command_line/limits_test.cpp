// Each limit option sets its own member.
#include "benchmarks/command_line/limits.hpp"

#include "benchmarks/command_line/run_options.hpp"

#include <gtest/gtest.h>

namespace forebay::command_line {
namespace {

TEST(RunLimits, GoWhereTheirNamesSay) {
    RunLimits limits;
    const std::array<const char*, 5> values{"5m", "16MB", "1k", "10%", "90s"};
    for (std::size_t which = 0; which < limit_options.size(); ++which) {
        EXPECT_TRUE(put_limit(which, values[which], limits)) << limit_options[which].name;
        EXPECT_FALSE(put_limit(which, "much", limits)) << limit_options[which].name;
    }
    EXPECT_EQ(limits.budget.seconds, 300.0);
    EXPECT_EQ(limits.budget.bytes, 16 << 20);
    EXPECT_EQ(limits.budget.files, 1024);
    EXPECT_EQ(limits.budget.free_share, 0.1);
    EXPECT_EQ(limits.stall_seconds, 90.0);
}

TEST(RunOptions, BeginWithTheLimitsThatTheHelpNames) {
    RunLimits named;
    EXPECT_TRUE(put_limit(3, std::string(run_limits.free_share), named));
    EXPECT_TRUE(put_limit(4, std::string(run_limits.stall), named));
    const RunLimits limits = RunOptions{}.limits;
    EXPECT_EQ(limits.budget.free_share, named.budget.free_share);
    EXPECT_EQ(limits.stall_seconds, named.stall_seconds);
}

}  // namespace
}  // namespace forebay::command_line
