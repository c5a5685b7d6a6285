// Calls one after another on one file. Calls that bypass the exchange may move their bytes before
// the ranks agree; the result must be the same.
#include "collective/engine/jobs_check.hpp"
#include "worlds/memory/wrapped_communicator.hpp"

#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

// Calls one after the other, in most of which each rank has one piece. Ranks move the bytes of such
// a call before they agree, as long as the other ranks do so, too.
struct Sequence {
    Job job;
    std::vector<std::vector<Ask>> calls;  // by rank
};

constexpr std::int64_t region_bytes = 65536;  // of each rank

Ask ask_in_region(Random& random, std::int64_t rank, bool whole) {
    Ask ask;
    const std::int64_t piece = whole ? region_bytes : pick(random, 1, 3000);
    const std::int64_t stride = piece + (whole ? 0 : pick(random, 1, 3000));
    ask.view = *pattern::View::make(Offset{rank * region_bytes}, pattern::Nest::run(piece),
                                    Length{stride}, Length{1});
    ask.request = {0, whole || pick(random, 0, 3) > 0 ? region_bytes / stride * piece : 0};
    ask.memory.resize(static_cast<std::size_t>(ask.request.length + 1));
    return ask;
}

Sequence random_sequence(std::uint64_t seed) {
    Random random{seed};
    Sequence sequence;
    Job& job = sequence.job;
    job.nodes.assign(static_cast<std::size_t>(pick(random, 1, 3)), 2);
    job.layout = pick(random, 0, 1) == 0 ? FileStripes{1, 0} : FileStripes{3, 16384};
    job.tuning.window_bytes = 65536;
    job.tuning.staging_bytes_max = 4 << 20;
    job.tuning.bypass_bytes_min = 16384;
    const std::int64_t ranks = 2 * std::ssize(job.nodes);
    for (int i = 0; i < 8; ++i) {
        const bool all_whole = i == 0 || pick(random, 0, 1) == 0;
        std::vector<Ask>& call = sequence.calls.emplace_back();
        for (std::int64_t r = 0; r < ranks; ++r) {
            call.push_back(ask_in_region(random, r, all_whole || pick(random, 0, 1) == 0));
        }
    }
    return sequence;
}

class CallsInTurn : public testing::TestWithParam<Run> {};

TEST_P(CallsInTurn, WriteWhatTheOracleWritesAndReadItBack) {
    Sequence sequence = random_sequence(GetParam().seed);
    Job& job = sequence.job;
    std::vector<std::byte> expected;
    for (std::vector<Ask>& call : sequence.calls) {
        job.asks = std::move(call);
        fill(job);
        expected = oracle(job, std::move(expected));
        call = std::move(job.asks);
    }
    Watched watched{job, some_trouble(GetParam().seed), GetParam()};
    on_ranks(job, watched, [&](CollectiveFile& opened, std::size_t rank) {
        for (std::vector<Ask>& call : sequence.calls) {
            Ask& ask = call[rank];
            const std::vector<std::byte> given = ask.memory;
            const CallOutcome out = opened.write({&ask.view, ask.request, ask.memory_of(), {}});
            EXPECT_FALSE(out.error.has_value());
            EXPECT_EQ(out.bytes.bytes(), ask.request.length);
            std::fill(ask.memory.begin(), ask.memory.end(), std::byte{0});
            const CallOutcome back = opened.read({&ask.view, ask.request, ask.memory_of(), {}});
            EXPECT_EQ(back.bytes, out.bytes);
            EXPECT_TRUE(ask.memory == given);
        }
    });
    EXPECT_TRUE(watched.recorder.bypassed);
    ASSERT_TRUE(watched.file.get({Offset{0}, watched.file.size()}) == expected);
}

// Either the last rank refuses the fourth call, or its part of the disk is full from the start.
TEST_P(CallsInTurn, TellEveryRankWhatOneMetAfterOthersHadMoved) {
    Sequence sequence = random_sequence(GetParam().seed);
    Job& job = sequence.job;
    const bool refuses = GetParam().seed % 2 == 0;
    const std::size_t last = sequence.calls.front().size() - 1;
    adapters::StorageFaults faults;
    faults.full_at =
        refuses ? faults.full_at : Offset{static_cast<std::int64_t>(last) * region_bytes + 5000};
    Watched watched{job, faults, GetParam()};
    on_ranks(job, watched, [&](CollectiveFile& opened, std::size_t rank) {
        for (std::vector<Ask>& call : sequence.calls) {
            Ask& ask = call[rank];
            const bool refused = refuses && &call == &sequence.calls.at(3);
            const Refusal own = refused && rank == last ? Refusal::gpu_memory : Refusal::none;
            const CallOutcome out = opened.write({&ask.view, ask.request, ask.memory_of(), own});
            EXPECT_EQ(out.refusal, refused ? Refusal::gpu_memory : Refusal::none);
            if (refused) {
                continue;
            }
            const bool too_much = !refuses && call[last].request.length > 0;
            EXPECT_EQ(out.error.has_value(), too_much);
            if (rank < last || !too_much) {
                EXPECT_EQ(out.bytes.bytes(), ask.request.length);
            }
        }
    });
}

class Counting final : public adapters::WrappedCommunicator {
public:
    using WrappedCommunicator::WrappedCommunicator;
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        ++gathered_;
        WrappedCommunicator::all_gather(mine, all);
    }
    [[nodiscard]] int gathered() const noexcept { return gathered_; }

private:
    int gathered_ = 0;
};

// How often the leaders of two nodes agree in each of five calls. In each call, each rank moves one
// stripe of 16 KiB through `view`; before the fourth call, agree_first_next() is called.
std::vector<int> agreements(Job job, IoDirection direction, const pattern::View& view) {
    job.nodes = {1, 1};
    job.layout = {2, 16384};
    job.tuning.bypass_bytes_min = 4096;
    job.tuning.staging_bytes_max = 4 << 20;
    Watched watched{job, {}, {}};
    watched.file.put(Offset{0}, std::vector<std::byte>(1 << 20));
    adapters::ClusterOptions cluster;
    cluster.node_sizes = job.nodes;
    cluster.node_bytes = CollectiveFile::node_segment_bytes(2, job.tuning.staging_bytes_max);
    std::vector<int> counts;
    adapters::run_ranks(cluster, [&](ports::Communicator& inner) {
        Counting communicator{inner};
        CollectiveFile opened{communicator, watched.steady, watched.recorder,
                              [&](IoDirection way) { return watched.open(way); }, options_of(job)};
        const bool first = inner.place().rank.value() == 0;
        Ask ask;
        ask.memory.resize(16384);
        for (std::int64_t i = 0; i < 5; ++i) {
            const int before = communicator.gathered();
            if (i == 3) {
                opened.agree_first_next();
            }
            const CollectiveCall call{
                &view, {(2 * i + (first ? 0 : 1)) * 16384, 16384}, ask.memory_of(), {}};
            const CallOutcome out =
                direction == IoDirection::write ? opened.write(call) : opened.read(call);
            EXPECT_EQ(out.bytes.bytes(), 16384);
            if (first) {
                counts.push_back(communicator.gathered() - before);
            }
        }
    });
    return counts;
}

TEST(Agreements, AreOneWhereTheLastCallBypassedAndNothingCanBeOnItsWay) {
    const pattern::View whole =
        *pattern::View::make(Offset{0}, pattern::Nest::run(1), Length{1}, Length{1});
    const pattern::View holes =
        *pattern::View::make(Offset{0}, pattern::Nest::run(16384), Length{32768}, Length{1});
    Job job;
    EXPECT_EQ(agreements(job, IoDirection::write, whole), (std::vector{2, 1, 1, 2, 1}));
    EXPECT_EQ(agreements(job, IoDirection::write, holes), (std::vector{2, 2, 2, 2, 2}));
    EXPECT_EQ(agreements(job, IoDirection::read, whole), (std::vector{2, 2, 2, 2, 2}));
    job.only_read = true;
    EXPECT_EQ(agreements(job, IoDirection::read, holes), (std::vector{2, 1, 1, 2, 1}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, CallsInTurn, testing::ValuesIn(runs(Ranks::threads, 60)), run_name);
INSTANTIATE_TEST_SUITE_P(World, CallsInTurn, testing::ValuesIn(runs(Ranks::actors, 60)), run_name);

}  // namespace
}  // namespace forebay::engine
