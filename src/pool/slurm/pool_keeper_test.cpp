// The keeper around env(1), which starts its program as `forebay run` does; with the command itself
// it is tested on a real Slurm (tests/suite/slurm_plugin_test.py).
#include "pool/slurm/pool_keeper.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using forebay::slurm::KeeperEnd;
using forebay::slurm::KeeperPlan;
using forebay::slurm::PoolKeeper;

KeeperPlan plan_of(std::vector<std::string> command) {
    KeeperPlan plan;
    plan.command = std::move(command);
    plan.environment = {"PATH=/usr/bin:/bin", "FOREBAY_ONE=1", "OTHER=2", "LD_PRELOAD="};
    plan.identity.user = ::getuid();
    plan.identity.group = ::getgid();
    return plan;
}

struct HeardLines {
    std::vector<std::string> lines;
    forebay::slurm::LineSink sink() {
        return [this](std::string_view line) { lines.emplace_back(line); };
    }
};

TEST(PoolKeeper, TellsTheTasksVariablesAndEndsWithTheStep) {
    auto keeper = PoolKeeper::start(plan_of({"/usr/bin/env"}));
    ASSERT_TRUE(keeper) << keeper.error().message;
    std::vector<std::string> variables = keeper->variables();
    std::ranges::sort(variables);
    EXPECT_EQ(variables, (std::vector<std::string>{"FOREBAY_ONE=1", "LD_PRELOAD="}));
    HeardLines heard;
    EXPECT_EQ(keeper->finish(heard.sink()).status, 0);
    EXPECT_TRUE(heard.lines.empty());
}

TEST(PoolKeeper, PassesOnWhatTheCommandSaysAndItsStatus) {
    auto keeper = PoolKeeper::start(
        plan_of({"/bin/sh", "-c", "shift; echo begins >&2; \"$@\"; echo ends >&2; exit 74", "sh"}));
    ASSERT_TRUE(keeper) << keeper.error().message;
    HeardLines heard;
    keeper->pass_on(heard.sink());
    EXPECT_EQ(heard.lines, (std::vector<std::string>{"begins"}));
    const KeeperEnd end = keeper->finish(heard.sink());
    EXPECT_EQ(end.status, 74);
    EXPECT_EQ(end.text, "begins\nends\n");
    EXPECT_EQ(heard.lines, (std::vector<std::string>{"begins", "ends"}));
}

TEST(PoolKeeper, ACommandThatDoesNotStartIsQuoted) {
    const auto keeper = PoolKeeper::start(plan_of({"/bin/sh", "-c", "echo no >&2; exit 2"}));
    ASSERT_FALSE(keeper);
    EXPECT_EQ(keeper.error().message, "no\n");
}

// The keeper is this process's only child; the others are its children.
pid_t keeper_process() {
    std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
    FILE* const file = std::fopen(path.c_str(), "r");
    int child = 0;
    EXPECT_TRUE(file != nullptr && std::fscanf(file, "%d", &child) == 1);
    std::fclose(file);
    return child;
}

TEST(PoolKeeper, OutlivesTheSignalsThatEndTheTasks) {
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    auto keeper = PoolKeeper::start(plan_of({"/bin/sh", "-c",
                                             "trap 'echo closes >&2' USR1; shift; exec 3<&0; "
                                             "\"$@\" <&3 & p=$!; while ! wait $p; do :; done",
                                             "sh"}));
    ASSERT_TRUE(keeper) << keeper.error().message;
    ASSERT_EQ(::kill(keeper_process(), SIGTERM), 0);
    HeardLines heard;
    while (heard.lines.empty()) {  // bounded by the test's time
        keeper->pass_on(heard.sink());
    }
    EXPECT_EQ(heard.lines, (std::vector<std::string>{"closes"}));
    EXPECT_EQ(keeper->finish(heard.sink()).status, 0);
}

TEST(PoolKeeper, SaysThatItWasKilled) {
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    auto keeper = PoolKeeper::start(plan_of({"/bin/sh", "-c", "shift; exec \"$@\"", "sh"}));
    ASSERT_TRUE(keeper) << keeper.error().message;
    ASSERT_EQ(::kill(keeper_process(), SIGKILL), 0);
    HeardLines heard;
    const KeeperEnd end = keeper->finish(heard.sink());
    EXPECT_EQ(end.status, -1);
    EXPECT_FALSE(end.is_told());
}

}  // namespace
