// Messages of another node are untrusted input: if one is malformed, every rank gets an error that
// says so, and only bytes that were moved are counted.
#include "collective/engine/leader_messenger.hpp"

#include "collective/engine/file.hpp"
#include "foundation/pattern/encode.hpp"
#include "storage/posix/clock.hpp"
#include "worlds/memory/communicator.hpp"
#include "worlds/memory/storage.hpp"
#include "worlds/memory/wrapped_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <list>
#include <string>
#include <vector>

namespace forebay::engine {
namespace {

// Tags of WriteMessenger's and ReadMessenger's messages.
enum Tag { written_data = 1, wants = 2, read_data = 3 };

using Letter = std::vector<std::byte>;
using Spoil = void (*)(Letter& letter);

// Makes what a message says of its coverage senseless. A data message of a read begins with the
// offset at which the file ended.
void spoil_header(Letter& letter) { std::fill_n(letter.begin(), 4, std::byte{0xff}); }
void spoil_header_of_read_data(Letter& letter) {
    std::fill_n(letter.begin() + sizeof(std::int64_t), 4, std::byte{0xff});
}
void end_before_the_file_begins(Letter& letter) {
    constexpr auto end_of_file = std::numeric_limits<std::int64_t>::min();
    std::memcpy(letter.data(), &end_of_file, sizeof end_of_file);
}
void cut_off(Letter& letter) { letter.resize(letter.size() - 5); }
void cut_off_in_the_prefix(Letter& letter) { letter.resize(5); }
// Gives none of the bytes that were asked for, in a message that is well-formed otherwise.
void give_nothing(Letter& letter) {
    constexpr std::size_t at = sizeof(std::int64_t);
    std::int64_t image_bytes = 0;
    std::memcpy(&image_bytes, letter.data() + at + 8, sizeof image_bytes);
    std::vector<pattern::Coverage::Bits> bits(pattern::Coverage::words_for(image_bytes, 4096));
    const pattern::Coverage nothing{bits, image_bytes, 4096};
    letter.resize(at + pattern::encoded_bytes_max(image_bytes, 4096));
    letter.resize(at + pattern::encode(nothing, Letter(static_cast<std::size_t>(image_bytes)),
                                       std::span{letter}.subspan(at)));
}

// A communicator that spoils the messages of one tag that this rank sends.
class Spoiler final : public adapters::WrappedCommunicator {
public:
    Spoiler(ports::Communicator& inner, int tag, Spoil spoil)
        : WrappedCommunicator{inner}, tag_{tag}, spoil_{spoil} {}

    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override {
        if (tag != tag_) {
            return WrappedCommunicator::send(to, tag, bytes);
        }
        Letter& spoilt = spoilt_.emplace_back(bytes.begin(), bytes.end());
        spoil_(spoilt);
        return WrappedCommunicator::send(to, tag, spoilt);
    }

private:
    int tag_;
    Spoil spoil_;
    std::list<Letter> spoilt_;
};

class NoRecorder final : public ports::CallRecorder {
public:
    void call(const ports::CallRecord& /*record*/) override {}
    void error(const Error& /*error*/) override {}
};

constexpr std::int64_t piece = 4096;
constexpr std::int64_t bytes_of_a_rank = 1 << 20;

// Two nodes with one rank each take turns at `piece` bytes; the messages of one tag from node 1 are
// spoilt. `reason`: what the rank that receives them has to say of them.
void expect_a_clear_error(Tag tag, Spoil spoil, const std::string& reason) {
    const IoDirection direction = tag == written_data ? IoDirection::write : IoDirection::read;
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
        Spoiler communicator{inner, rank == 1 ? static_cast<int>(tag) : -1, spoil};
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
        EXPECT_EQ(out.error->message.find(reason) != std::string::npos, receives)
            << out.error->message;
        if (direction == IoDirection::read) {
            const auto moved = out.bytes.bytes();
            EXPECT_EQ(std::count(memory.begin(), memory.begin() + moved, std::byte{7}), moved);
        }
    });
}

TEST(LeaderMessenger, SaysWhenWhatWasWrittenElsewhereMakesNoSense) {
    expect_a_clear_error(written_data, spoil_header, "it is of another kind");
}

TEST(LeaderMessenger, SaysWhenWhatAnotherNodeWantsMakesNoSense) {
    expect_a_clear_error(wants, spoil_header, "it is of another kind");
}

TEST(LeaderMessenger, SaysWhenWhatWasReadElsewhereMakesNoSense) {
    expect_a_clear_error(read_data, spoil_header_of_read_data, "it is of another kind");
}

// Regression: the offset went into a subtraction that overflowed, and ranks counted bytes as read
// that lie behind it.
TEST(LeaderMessenger, SaysWhenTheFileEndedBeforeItBeganElsewhere) {
    expect_a_clear_error(read_data, end_before_the_file_begins, "the file ends before byte 0");
}

// Regression: what an earlier message had left in the receive buffer was taken for the rest of a
// message that was shorter than it said.
TEST(LeaderMessenger, SaysWhenAMessageIsShorterThanItSays) {
    expect_a_clear_error(written_data, cut_off, "it is cut short");
    expect_a_clear_error(wants, cut_off, "it is cut short");
    expect_a_clear_error(read_data, cut_off, "it is cut short");
    expect_a_clear_error(read_data, cut_off_in_the_prefix, "it is cut short");
}

// Regression: ranks copied what the image held before.
TEST(LeaderMessenger, SaysWhenAnotherNodeGivesLessThanWasAskedFor) {
    expect_a_clear_error(read_data, give_nothing, "it has other bytes than those asked for");
}

}  // namespace
}  // namespace forebay::engine
