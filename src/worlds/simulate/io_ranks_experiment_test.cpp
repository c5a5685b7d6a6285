// Times that a program waits for its output, where they can be computed by hand, and in which order
// the ways to put out come. Each world is in a process of its own, since SimGrid allows one
// simulation per process.
#include "worlds/simulate/io_ranks_experiment.hpp"

#include "foundation/base/bytes.hpp"
#include "worlds/simulate/own_process_check.hpp"

#include <gtest/gtest.h>

namespace forebay::sim {
namespace {

constexpr double copy_rate = 1e9;
constexpr double client_rate = 1e8;

// Four nodes of four cores; requests and messages cost only their bytes, and a target is fast.
IoRanksExperiment small_output(OutputVariant variant) {
    IoRanksExperiment experiment;
    adapters::MachinePlatform& platform = experiment.platform;
    platform.node = {4, 4, 1e10, 1e-6, 1e11, copy_rate, 0, client_rate, 1e-6, 1e15, 1e15};
    platform.server = {1, 1e11};
    platform.target = {2, 1e11, 0, 0, 16, 0, 16, 0, 0};
    platform.metadata = {1, 1e-4, 1e-4, 0};
    platform.stripe_bytes = mib;
    experiment.variant = variant;
    experiment.ranks = 12;
    experiment.io_ranks = 2;
    experiment.burst_bytes = 96 * mib;
    experiment.files = 2;
    experiment.interval = 5;
    experiment.steps = 3;
    return experiment;
}

IoRanksOutcome run_alone(const IoRanksExperiment& experiment) {
    const auto outcome =
        in_own_process([&] { return run(experiment).value_or(IoRanksOutcome{.wrong = -1}); });
    EXPECT_EQ(wrong(outcome), 0) << "every byte arrived";
    return outcome;
}

double seconds_of(std::int64_t bytes, double rate) { return static_cast<double>(bytes) / rate; }

// Without opening and closing.
double exposed_by(const IoRanksExperiment& experiment) {
    const IoRanksOutcome outcome = run_alone(experiment);
    return outcome.exposed - outcome.metadata;
}

// Each of two I/O ranks copies half of each burst, while six ranks wait for their turns. A rank's
// own packing is before that, of a twelfth.
TEST(OutputByIoRanks, CostsTheTimeInWhichTheBusiestCollects) {
    const IoRanksExperiment experiment = small_output(OutputVariant::io_ranks);
    const IoRanksOutcome outcome = run_alone(experiment);
    const double collecting = seconds_of(experiment.burst_bytes / 2, copy_rate);
    const double packing = seconds_of(experiment.burst_bytes / 12, copy_rate);
    EXPECT_NEAR(outcome.collected, collecting, 0.1 * collecting);
    EXPECT_GE(outcome.exposed, 3 * collecting);
    EXPECT_LE(outcome.exposed, 1.1 * 3 * (collecting + packing));
    EXPECT_NEAR(outcome.written, seconds_of(experiment.burst_bytes / 2, client_rate), 0.02);
    EXPECT_NEAR(outcome.waited, 0, 0.01) << "the last burst was written by then";
    EXPECT_NEAR(outcome.written_after, outcome.written, 0.01) << "the last one";
    EXPECT_EQ(outcome.bytes, 3 * experiment.burst_bytes);
}

// Nothing but the first collecting is hidden where there is no time to write.
TEST(OutputByIoRanks, WaitsUntilTheLastBurstIsWritten) {
    IoRanksExperiment experiment = small_output(OutputVariant::io_ranks);
    experiment.interval = 0;
    const IoRanksOutcome outcome = run_alone(experiment);
    const double writing = seconds_of(experiment.burst_bytes / 2, client_rate);
    EXPECT_GE(outcome.exposed, 2 * writing);
    EXPECT_NEAR(outcome.waited, 2 * writing, 0.1 * writing);
}

TEST(OutputByRankZero, CostsCollectingAndWriting) {
    const IoRanksExperiment experiment = small_output(OutputVariant::gather);
    const IoRanksOutcome outcome = run_alone(experiment);
    const double both = seconds_of(experiment.burst_bytes, copy_rate) +
                        seconds_of(experiment.burst_bytes, client_rate);
    EXPECT_NEAR(outcome.exposed, 3 * both, 0.05 * 3 * both);
    EXPECT_LE(outcome.written_after, 0.001);
}

TEST(Outputs, ComeInTheOrderOfTheirExposure) {
    IoRanksExperiment two = small_output(OutputVariant::io_ranks);
    IoRanksExperiment four = two;
    four.io_ranks = 4;
    EXPECT_LT(exposed_by(four), 0.7 * exposed_by(two)) << "twice as many collect";
    EXPECT_LT(exposed_by(two), 0.5 * exposed_by(small_output(OutputVariant::gather)));
    EXPECT_LE(exposed_by(small_output(OutputVariant::pool)), 0.5 * exposed_by(four));
    // Here every rank is a writer, and copies a patch three times: in, in order, and to the pool.
    EXPECT_LT(exposed_by(small_output(OutputVariant::output)), 0.7 * exposed_by(two));
}

// The interface of a node carries a fifth of what its two I/O ranks could copy.
TEST(Spreading, HelpsWhereTheInterfaceOfANodeIsTheLimit) {
    IoRanksExperiment together = small_output(OutputVariant::io_ranks);
    together.platform.node.link_rate = 4e8;
    IoRanksExperiment spread = together;
    spread.spread = 2;
    EXPECT_LT(exposed_by(spread), 0.7 * exposed_by(together));
}

TEST(Outputs, GiveTheSameFiguresForTheSameSeed) {
    for (const OutputVariant variant : {OutputVariant::gather, OutputVariant::io_ranks,
                                        OutputVariant::pool, OutputVariant::output}) {
        IoRanksExperiment experiment = small_output(variant);
        experiment.platform.target.jitter = 0.1;
        const std::string first = as_json(experiment, run_alone(experiment));
        EXPECT_EQ(as_json(experiment, run_alone(experiment)), first);
    }
}

}  // namespace
}  // namespace forebay::sim
