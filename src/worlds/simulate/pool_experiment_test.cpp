// Times that a program waits for its output, where they can be computed by hand. Each world is in a
// process of its own, since SimGrid allows one simulation per process.
#include "worlds/simulate/pool_experiment.hpp"

#include "foundation/base/bytes.hpp"
#include "worlds/simulate/own_process_check.hpp"

#include <gtest/gtest.h>
#include <string>

namespace forebay::sim {
namespace {

constexpr double copy_rate = 1e9;
constexpr double targets_rate = 2e8;  // both targets together

// One node; requests cost only their bytes.
PoolExperiment small() {
    PoolExperiment experiment;
    adapters::MachinePlatform& platform = experiment.platform;
    platform.node = {1, 1, 1e9, 1e-6, 1e10, copy_rate, 0, 1e9, 1e-6, 1e15, 1e15};
    platform.server = {1, 1e9};
    platform.target = {2, targets_rate / 2, 0, 0, 16, 0, 16, 0, 0};
    platform.metadata = {1, 1e-4, 1e-4, 0};
    platform.stripe_bytes = mib;
    experiment.burst_bytes = 32 * mib;
    experiment.interval = 5;
    experiment.steps = 3;
    return experiment;
}

PoolOutcome run_alone(const PoolExperiment& experiment) {
    const auto outcome = in_own_process([&] {
        PoolOutcome refused;
        refused.refused = -1;
        return run(experiment).value_or(refused);
    });
    EXPECT_EQ(outcome.refused, 0) << "the daemons understood all entries";
    EXPECT_EQ(outcome.failed_jobs, 0);
    EXPECT_EQ(outcome.drained + outcome.bytes_past, outcome.bytes) << "every byte arrived";
    return outcome;
}

double seconds_of(std::int64_t bytes, double rate) { return static_cast<double>(bytes) / rate; }

TEST(Bursts, ThatFitIntoTheWindowAndAreDrainedInTimeCostACopy) {
    const PoolExperiment experiment = small();
    const PoolOutcome outcome = run_alone(experiment);
    const double copy = seconds_of(experiment.burst_bytes, copy_rate);
    EXPECT_NEAR(outcome.pooled.longest, copy, 0.001);
    EXPECT_NEAR(outcome.pooled.exposed, 3 * copy, 0.01);
    EXPECT_NEAR(outcome.plain.exposed, 3 * seconds_of(experiment.burst_bytes, targets_rate), 0.02);
    EXPECT_NEAR(outcome.waited, 0, 0.01);
    EXPECT_NEAR(hidden(outcome), 1 - targets_rate / copy_rate, 0.03);
    EXPECT_EQ(outcome.file_high, experiment.burst_bytes);
}

// Only the bytes of the last window are hidden.
TEST(Bursts, WithoutTimeToDrainWaitForTheFileSystem) {
    PoolExperiment experiment = small();
    experiment.interval = 0;
    experiment.burst_bytes = 512 * mib;
    experiment.pool.window_bytes = 128 * mib;
    const PoolOutcome outcome = run_alone(experiment);
    const double plain = seconds_of(outcome.bytes, targets_rate);
    EXPECT_NEAR(outcome.plain.exposed, plain, 0.02 * plain);
    EXPECT_GE(outcome.pooled.exposed,
              0.98 * seconds_of(outcome.bytes - experiment.pool.window_bytes, targets_rate));
    EXPECT_LE(outcome.pooled.exposed + outcome.drained_after, 1.1 * plain);
    EXPECT_GT(outcome.waited, 0.7 * plain);
}

TEST(Bursts, StayWithinWindowAndCap) {
    PoolExperiment experiment = small();
    experiment.interval = 0.1;
    experiment.platform.node.ranks = 4;
    experiment.burst_bytes = 512 * mib;
    experiment.pool.window_bytes = 32 * mib;
    experiment.pool.cap_bytes = 64 * mib;
    const PoolOutcome outcome = run_alone(experiment);
    EXPECT_LE(outcome.file_high, experiment.pool.window_bytes);
    EXPECT_LE(outcome.high, experiment.pool.cap_bytes + 4 * mib);
    EXPECT_GE(outcome.high, experiment.pool.cap_bytes / 2);
}

TEST(Bursts, AreCollectedBeforeTheyAreWrittenWithAndWithoutThePool) {
    PoolExperiment experiment = small();
    experiment.platform.node.ranks = 4;
    experiment.writers = 1;
    const PoolOutcome outcome = run_alone(experiment);
    const double all = 3 * seconds_of(experiment.burst_bytes * 3 / 4, copy_rate);
    EXPECT_NEAR(outcome.plain.gathered, all, 0.01);
    EXPECT_NEAR(outcome.pooled.gathered, all, 0.01);
    EXPECT_GE(outcome.pooled.exposed, all);
}

TEST(Bursts, GoPastThePoolBeforeTheBatchJobEnds) {
    PoolExperiment experiment = small();
    experiment.job_end = 14;  // after two of three bursts
    experiment.deadline = 2;
    const PoolOutcome outcome = run_alone(experiment);
    EXPECT_TRUE(outcome.closed_early);
    EXPECT_EQ(outcome.bytes_past, experiment.burst_bytes);
    EXPECT_FALSE(run_alone(small()).closed_early);
}

TEST(Inputs, AreReadOnceByEachNode) {
    PoolExperiment experiment = small();
    experiment.platform.node.count = 2;
    experiment.platform.node.ranks = 4;
    experiment.input_bytes = 64 * mib;
    const PoolOutcome outcome = run_alone(experiment);
    EXPECT_EQ(outcome.plain.input, 8 * experiment.input_bytes);
    EXPECT_GE(outcome.pooled.input, 2 * experiment.input_bytes);
    // Until sequential reading is detected, all ranks read for themselves.
    EXPECT_LE(outcome.pooled.input, 2 * experiment.input_bytes + 8 * 4 * mib);
    EXPECT_LT(outcome.pooled.reading, outcome.plain.reading / 3);
}

TEST(Inputs, AreReadByFewNodesForAll) {
    PoolExperiment experiment = small();
    experiment.platform.node.count = 4;
    experiment.platform.node.ranks = 4;
    experiment.input_bytes = 16 * mib;
    experiment.stripe_count = 1;
    const double each = run_alone(experiment).pooled.reading;
    for (const std::int32_t readers : {1, 2}) {
        experiment.readers = readers;
        const PoolOutcome outcome = run_alone(experiment);
        EXPECT_EQ(outcome.pooled.input, readers * experiment.input_bytes) << readers;
        EXPECT_EQ(outcome.pooled.passed, (4 - readers) * experiment.input_bytes) << readers;
        EXPECT_LT(outcome.pooled.reading, each) << readers;
    }
}

// A core that passes on 10 MB/s must receive all 64 MiB, and send them to two other nodes.
TEST(Inputs, ArePassedOnNoFasterThanACoreEncrypts) {
    PoolExperiment experiment = small();
    experiment.platform.node.count = 4;
    experiment.input_bytes = 64 * mib;
    experiment.readers = 1;
    experiment.pass_rate = 1e7;
    const double received = seconds_of(experiment.input_bytes, 1e7);
    EXPECT_GE(run_alone(experiment).pooled.reading, received);
}

TEST(Simulations, GiveTheSameFiguresForTheSameSeed) {
    PoolExperiment experiment = small();
    experiment.platform.node.count = 2;
    experiment.platform.node.ranks = 3;
    experiment.platform.target.jitter = 0.1;
    experiment.new_files = true;
    const auto told = [&] { return as_json(experiment, run_alone(experiment)); };
    const std::string first = told();
    EXPECT_EQ(told(), first);
    experiment.seed = 2;
    EXPECT_NE(told(), first);
}

// Ask, grant and forgotten are three messages per file, but none if the node itself is its home.
TEST(Daemons, SayThreeThingsAboutAFileHoweverManyTheyAre) {
    for (const std::int64_t nodes : {2, 16, 64, 256}) {
        PoolExperiment experiment = small();
        experiment.platform.node.count = nodes;
        experiment.platform.target.rate = 1e9;
        experiment.burst_bytes = nodes * mib;
        experiment.interval = 0.2;
        experiment.steps = 4;
        experiment.new_files = true;
        const PoolOutcome outcome = run_alone(experiment);
        EXPECT_EQ(outcome.opened, 4 * nodes);
        const double each = static_cast<double>(outcome.messages) / static_cast<double>(4 * nodes);
        EXPECT_LE(each, 3) << nodes << " nodes";
        EXPECT_GE(each, 3 * (1 - 2.0 / static_cast<double>(nodes))) << nodes << " nodes";
    }
}

}  // namespace
}  // namespace forebay::sim
