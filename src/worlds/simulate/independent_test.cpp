// Times of independent I/O that can be computed by hand. Each world is in a process of its own,
// since SimGrid allows one simulation per process.
#include "worlds/simulate/independent.hpp"

#include "foundation/base/bytes.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::sim {
namespace {

constexpr double copy_rate = 1e9;
constexpr double target_rate = 1e8;

// One node of four ranks, two targets; requests cost only their bytes.
IndependentExperiment small() {
    IndependentExperiment experiment;
    adapters::MachinePlatform& platform = experiment.platform;
    platform.node = {1, 4, 1e10, 1e-6, 1e11, copy_rate, 0, copy_rate, 1e-6, 1e15, 1e15};
    platform.client = {mib, 8, 32 * mib, 16 * mib, 0};
    platform.server = {1, 1e10, 1 << 30};
    platform.target = {2, target_rate, 0, 0, 16, 0, 16, 0, 0, 0};
    platform.metadata = {1, 0.003, 0.002, 0, 0.001};
    platform.stripe_bytes = mib;
    experiment.process_bytes = 32 * mib;
    return experiment;
}

nlohmann::json run_alone(const IndependentExperiment& experiment) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto outcome = run(experiment);
        const std::string text = outcome ? as_json(experiment, *outcome) : "null";
        _exit(write(ends[1], text.data(), text.size()) > 0 ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return nlohmann::json::parse(text, nullptr, false);
}

double moving(const IndependentExperiment& experiment) {
    const nlohmann::json told = run_alone(experiment);
    EXPECT_EQ(told["error"], "");
    return told["seconds_moving"];
}

double seconds_of(std::int64_t bytes, double rate) { return static_cast<double>(bytes) / rate; }

TEST(Independent, WritersOfOneFileOnOneTargetShareIt) {
    const IndependentExperiment experiment = small();
    const nlohmann::json told = run_alone(experiment);
    const double busy = seconds_of(4 * experiment.process_bytes, target_rate);
    EXPECT_NEAR(told["seconds_moving"], busy, 0.01);
    EXPECT_NEAR(told["steady_rate"], target_rate, 0.02 * target_rate);
    EXPECT_EQ(told["bytes"], 4 * experiment.process_bytes);
    EXPECT_EQ(told["requests"], 4 * 32);
}

TEST(Independent, MoreStripesAreFaster) {
    IndependentExperiment experiment = small();
    experiment.stripe_count = 0;
    EXPECT_NEAR(moving(experiment), seconds_of(4 * experiment.process_bytes, 2 * target_rate),
                0.02);
}

TEST(Independent, FilesOfTheirOwnLieOnOneTargetAfterAnother) {
    IndependentExperiment experiment = small();
    experiment.shared = false;
    const nlohmann::json told = run_alone(experiment);
    EXPECT_NEAR(told["seconds_moving"], seconds_of(4 * experiment.process_bytes, 2 * target_rate),
                0.02);
    EXPECT_EQ(told["target_bytes"][0], 2 * experiment.process_bytes);
    EXPECT_EQ(told["target_bytes"][1], 2 * experiment.process_bytes);
    EXPECT_EQ(told["files"], 4);
}

TEST(Independent, OneProcessIsAsFastAsItsCore) {
    IndependentExperiment experiment = small();
    experiment.processes = 1;
    experiment.platform.target.rate = 1e12;
    const double copying = seconds_of(experiment.process_bytes, copy_rate);
    EXPECT_NEAR(moving(experiment), copying, 0.001);
    experiment.transfer_bytes = mib / 16;
    experiment.platform.client.call_time = 1e-3;
    EXPECT_NEAR(moving(experiment), copying + 16 * 32 * 1e-3, 0.003);
    experiment.transfer_bytes = 16 * mib;
    EXPECT_NEAR(moving(experiment), copying + 32 * 1e-3, 0.003) << "each stripe costs that, too";
}

TEST(Independent, OpeningAndClosingWaitForTheServer) {
    IndependentExperiment experiment = small();
    experiment.stripe_count = 2;
    nlohmann::json told = run_alone(experiment);
    EXPECT_NEAR(told["seconds_open"], 4 * 0.003 + 2 * 0.001, 1e-4);
    EXPECT_NEAR(told["seconds_close"], 4 * 0.002, 1e-4);
    experiment.shared = false;
    told = run_alone(experiment);
    EXPECT_NEAR(told["seconds_open"], 4 * (0.003 + 2 * 0.001), 1e-4);
    experiment.read = true;
    told = run_alone(experiment);
    EXPECT_NEAR(told["seconds_open"], 4 * 0.003, 1e-4);
}

TEST(Independent, AFileThatAllReadIsFetchedOnceForANodeOrForEachRank) {
    IndependentExperiment experiment = small();
    experiment.platform.node.count = 2;
    experiment.read = true;
    experiment.same = true;
    nlohmann::json told = run_alone(experiment);
    EXPECT_EQ(told["bytes"], 8 * experiment.process_bytes);
    EXPECT_EQ(told["request_bytes"], 2 * experiment.process_bytes);
    EXPECT_EQ(told["locks_asked"], 2);
    experiment.direct = true;
    told = run_alone(experiment);
    EXPECT_EQ(told["request_bytes"], 8 * experiment.process_bytes);
    std::int64_t read = 0;
    for (const std::int64_t bytes : told["target_bytes"]) {
        read += bytes;
    }
    EXPECT_EQ(read, experiment.process_bytes) << "the server has it in memory then";
}

TEST(Independent, ProcessesNeedNotFillTheirNodes) {
    IndependentExperiment experiment = small();
    experiment.platform.node.count = 4;
    experiment.processes = 5;
    experiment.per_node = 2;
    const nlohmann::json told = run_alone(experiment);
    EXPECT_EQ(told["nodes"], 3);
    EXPECT_EQ(told["bytes"], 5 * experiment.process_bytes);
}

TEST(Independent, ASickTargetHoldsTheFileUp) {
    IndependentExperiment experiment = small();
    experiment.stripe_count = 2;
    experiment.sickness = {1, 4, -1};
    const double half = seconds_of(2 * experiment.process_bytes, target_rate);
    EXPECT_NEAR(moving(experiment), 4 * half, 0.05);
    experiment.sickness.error_from = 0;
    EXPECT_NE(run_alone(experiment)["error"], "");
}

TEST(Independent, TheSameSeedGivesTheSameFigures) {
    IndependentExperiment experiment = small();
    experiment.platform.target.jitter = 0.1;
    experiment.background_load = {0.1, 0.1, 0, 3};
    const nlohmann::json first = run_alone(experiment);
    EXPECT_EQ(run_alone(experiment), first);
    experiment.background_load.moment = 4;
    EXPECT_NE(run_alone(experiment)["seconds_moving"], first["seconds_moving"]);
}

}  // namespace
}  // namespace forebay::sim
