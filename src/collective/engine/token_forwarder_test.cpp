// A token forwarder wakes because there is something to forward, and not because a brief wait has
// ended.
#include "collective/engine/token_forwarder.hpp"

#include "collective/engine/file.hpp"
#include "storage/posix/clock.hpp"
#include "worlds/memory/communicator.hpp"
#include "worlds/memory/storage.hpp"
#include "worlds/memory/wrapped_communicator.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace forebay::engine {
namespace {

// A leader whose brief waits never time out: only a wake-up ends its sleep.
class SoundSleeper final : public adapters::WrappedCommunicator {
public:
    using WrappedCommunicator::WrappedCommunicator;

    void wait_briefly(const ports::Word& word, std::uint32_t seen) noexcept override {
        if (place().leader()) {
            wait(word, seen);
        } else {
            WrappedCommunicator::wait_briefly(word, seen);
        }
    }
};

class NoRecorder final : public ports::CallRecorder {
public:
    void call(const ports::CallRecord& /*record*/) override {}
    void error(const Error& /*error*/) override {}
};

class OneNode : public testing::TestWithParam<plan::ExchangeOrder> {};

// Three ranks, all of them aggregators, share a target and take turns at 4 KiB.
TEST_P(OneNode, RingsForItsLeader) {
    constexpr std::int64_t ranks = 3;
    constexpr std::int64_t piece = 4096;
    constexpr std::int64_t bytes = 2 << 20;
    adapters::MemoryFile file;
    FileOptions options;
    options.layout = {1, 16384};
    options.aggregators_per_node_max = ranks;
    options.tuning.window_bytes = 65536;
    options.tuning.aggregators_per_target = ranks;
    options.tuning.exchange = GetParam();
    adapters::ClusterOptions cluster;
    cluster.node_sizes = {ranks};
    cluster.node_bytes =
        CollectiveFile::node_segment_bytes(ranks, options.tuning.staging_bytes_max);
    adapters::run_ranks(cluster, [&](ports::Communicator& inner) {
        SoundSleeper communicator{inner};
        const adapters::SteadyClock clock;
        NoRecorder recorder;
        CollectiveFile opened{communicator, clock, recorder,
                              [&](IoDirection way) { return adapters::open_memory(file, way); },
                              options};
        const std::int64_t rank = inner.place().rank.value();
        const auto view = *pattern::View::make(Offset{rank * piece}, pattern::Nest::run(piece),
                                               Length{ranks * piece}, Length{1});
        const pattern::Nest nest = pattern::Nest::run(1);
        std::vector<std::byte> memory(bytes, static_cast<std::byte>(rank));
        const CollectiveCall call{&view, {0, bytes}, {memory.data(), &nest, 1}, Refusal::none};
        EXPECT_EQ(opened.write(call).bytes.bytes(), bytes);
        memory.assign(bytes, std::byte{0xff});
        EXPECT_EQ(opened.read(call).bytes.bytes(), bytes);
        EXPECT_EQ(memory, std::vector<std::byte>(bytes, static_cast<std::byte>(rank)));
    });
}

INSTANTIATE_TEST_SUITE_P(Exchanges, OneNode,
                         testing::Values(plan::ExchangeOrder::overlapped, plan::ExchangeOrder::all,
                                         plan::ExchangeOrder::stepwise));

}  // namespace
}  // namespace forebay::engine
