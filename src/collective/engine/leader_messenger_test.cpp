// Messages of another node are untrusted input: if one is malformed, every rank gets an error that
// says so, and only bytes that were moved are counted.
#include "collective/engine/leader_messenger.hpp"

#include "collective/engine/file.hpp"
#include "storage/posix/clock.hpp"
#include "worlds/memory/communicator.hpp"
#include "worlds/memory/storage.hpp"
#include "worlds/memory/wrapped_communicator.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <list>
#include <string>

namespace forebay::engine {
namespace {

// Tags of WriteMessenger's and ReadMessenger's messages.
enum Tag { written_data = 1, wants = 2, read_data = 3 };

// A communicator that spoils the messages of one tag that this rank sends.
class Spoiler final : public adapters::WrappedCommunicator {
public:
    Spoiler(ports::Communicator& inner, int tag) : WrappedCommunicator{inner}, tag_{tag} {}

    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override {
        if (tag != tag_) {
            return WrappedCommunicator::send(to, tag, bytes);
        }
        std::vector<std::byte>& spoilt = spoilt_.emplace_back(bytes.begin(), bytes.end());
        // A data message of a read begins with the offset at which the file ended.
        const std::size_t header = tag == read_data ? sizeof(std::int64_t) : 0;
        std::fill_n(spoilt.begin() + static_cast<std::ptrdiff_t>(header), 4, std::byte{0xff});
        return WrappedCommunicator::send(to, tag, spoilt);
    }

private:
    int tag_;
    std::list<std::vector<std::byte>> spoilt_;
};

class NoRecorder final : public ports::CallRecorder {
public:
    void call(const ports::CallRecord& /*record*/) override {}
    void error(const Error& /*error*/) override {}
};

constexpr std::int64_t piece = 4096;
constexpr std::int64_t bytes_of_a_rank = 1 << 20;

// Two nodes with one rank each take turns at `piece` bytes; the messages of one tag from node 1 are
// spoilt.
void expect_a_clear_error(Tag tag, IoDirection direction) {
    adapters::MemoryFile file;
    if (direction == IoDirection::read) {
        file.put(Offset{0}, std::vector<std::byte>(2 * bytes_of_a_rank, std::byte{7}));
    }
    adapters::ClusterOptions cluster;
    cluster.node_sizes = {1, 1};
    FileOptions options;
    options.path = "/memory/file";
    options.layout = {2, 65536};
    options.tuning.staging_bytes_max = 4 << 20;
    options.tuning.write = plan::SwitchMode::enable;
    options.tuning.read = plan::SwitchMode::enable;
    cluster.node_bytes = CollectiveFile::node_segment_bytes(2, options.tuning.staging_bytes_max);
    adapters::run_ranks(cluster, [&](ports::Communicator& inner) {
        const std::int64_t rank = inner.place().rank.value();
        Spoiler communicator{inner, rank == 1 ? static_cast<int>(tag) : -1};
        const adapters::SteadyClock clock;
        NoRecorder recorder;
        CollectiveFile opened{communicator, clock, recorder,
                              [&](IoDirection way) { return adapters::open_memory(file, way); },
                              options};
        const auto view = *pattern::View::make(Offset{rank * piece}, pattern::Nest::run(piece),
                                               Length{2 * piece}, Length{1});
        const pattern::Nest nest = pattern::Nest::run(1);
        std::vector<std::byte> memory(bytes_of_a_rank);
        const CollectiveCall call{
            &view, {0, bytes_of_a_rank}, {memory.data(), &nest, 1}, Refusal::none};
        const CallOutcome out =
            direction == IoDirection::write ? opened.write(call) : opened.read(call);
        ASSERT_TRUE(out.error.has_value()) << "rank " << rank;
        EXPECT_EQ(out.error->code, ErrorCode::input_output);
        EXPECT_NE(out.error->message.find("/memory/file at byte"), std::string::npos);
        EXPECT_NE(out.error->message.find("message"), std::string::npos) << out.error->message;
        EXPECT_EQ(out.error->message.find("Success"), std::string::npos) << out.error->message;
        const bool receives = (rank == 0);
        EXPECT_EQ(out.error->message.find("it is of another kind") != std::string::npos, receives)
            << out.error->message;
        if (direction == IoDirection::read) {
            const auto moved = out.bytes.bytes();
            EXPECT_EQ(std::count(memory.begin(), memory.begin() + moved, std::byte{7}), moved);
        }
    });
}

TEST(LeaderMessenger, SaysWhenWhatWasWrittenElsewhereMakesNoSense) {
    expect_a_clear_error(written_data, IoDirection::write);
}

TEST(LeaderMessenger, SaysWhenWhatAnotherNodeWantsMakesNoSense) {
    expect_a_clear_error(wants, IoDirection::read);
}

TEST(LeaderMessenger, SaysWhenWhatWasReadElsewhereMakesNoSense) {
    expect_a_clear_error(read_data, IoDirection::read);
}

}  // namespace
}  // namespace forebay::engine
