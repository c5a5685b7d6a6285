// What another node sends is input: where it makes no sense, every rank gets an error that says so,
// and nothing is counted as moved that is not.
#include "engine/courier.hpp"

#include "adapters/memory/communicator.hpp"
#include "adapters/memory/storage.hpp"
#include "adapters/posix/clock.hpp"
#include "engine/file.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <list>
#include <string>

namespace forebay::engine {
namespace {

// Tags of WriteCourier's and ReadCourier's messages.
enum Tag { written_data = 1, wants = 2, read_data = 3 };

// Spoils the messages of one tag that this rank sends.
class Spoiler final : public ports::Communicator {
public:
    Spoiler(ports::Communicator& inner, int tag) : inner_{inner}, tag_{tag} {}

    [[nodiscard]] const ports::Place& place() const noexcept override { return inner_.place(); }
    [[nodiscard]] Rank rank_at(NodeId node, LocalRank local) const noexcept override {
        return inner_.rank_at(node, local);
    }
    [[nodiscard]] std::int32_t locals_on(NodeId node) const noexcept override {
        return inner_.locals_on(node);
    }
    [[nodiscard]] std::span<std::byte> node_memory() noexcept override {
        return inner_.node_memory();
    }
    void wait(const ports::Word& word, std::uint32_t seen) noexcept override {
        inner_.wait(word, seen);
    }
    void wait_briefly(const ports::Word& word, std::uint32_t seen) noexcept override {
        inner_.wait_briefly(word, seen);
    }
    void wake(ports::Word& word) noexcept override { inner_.wake(word); }
    Result<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        return inner_.all_gather(mine, all);
    }
    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override {
        if (tag != tag_) {
            return inner_.send(to, tag, bytes);
        }
        std::vector<std::byte>& spoilt = spoilt_.emplace_back(bytes.begin(), bytes.end());
        // Data that was read begins with where the file ended.
        const std::size_t header = tag == read_data ? sizeof(std::int64_t) : 0;
        std::fill_n(spoilt.begin() + static_cast<std::ptrdiff_t>(header), 4, std::byte{0xff});
        return inner_.send(to, tag, spoilt);
    }
    Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) override {
        return inner_.receive(from, tag, bytes);
    }
    bool done(Ticket ticket) override { return inner_.done(ticket); }

private:
    ports::Communicator& inner_;
    int tag_;
    std::list<std::vector<std::byte>> spoilt_;
};

class NoRecorder final : public ports::Recorder {
public:
    void call(const ports::CallRecord& /*record*/) override {}
    void error(const Error& /*error*/) override {}
};

constexpr std::int64_t piece = 4096;
constexpr std::int64_t bytes_of_a_rank = 1 << 20;

// Two nodes of one rank each take turns at `piece` bytes; node 1's messages of a tag are spoilt.
void expect_a_clear_error(Tag tag, ports::Direction direction) {
    adapters::MemoryFile file;
    if (direction == ports::Direction::read) {
        file.put(Offset{0}, std::vector<std::byte>(2 * bytes_of_a_rank, std::byte{7}));
    }
    adapters::ClusterOptions cluster;
    cluster.node_sizes = {1, 1};
    FileOptions options;
    options.path = "/memory/file";
    options.layout = {2, 65536};
    options.tuning.staging_bytes_max = 4 << 20;
    options.tuning.write = plan::Mode::enable;
    options.tuning.read = plan::Mode::enable;
    cluster.node_bytes = File::lane_bytes(2, options.tuning.staging_bytes_max);
    adapters::run_ranks(cluster, [&](ports::Communicator& inner) {
        const std::int64_t rank = inner.place().rank.value();
        Spoiler communicator{inner, rank == 1 ? static_cast<int>(tag) : -1};
        const adapters::SteadyClock clock;
        NoRecorder recorder;
        File opened{communicator, clock, recorder,
                    [&](ports::Direction way) { return adapters::open_memory(file, way); },
                    options};
        const auto view = *pattern::View::make(Offset{rank * piece}, pattern::Nest::run(piece),
                                               Length{2 * piece}, Length{1});
        const pattern::Nest nest = pattern::Nest::run(1);
        std::vector<std::byte> memory(bytes_of_a_rank);
        const Call call{&view, {0, bytes_of_a_rank}, {memory.data(), &nest, 1}, Refusal::none};
        const Outcome out =
            direction == ports::Direction::write ? opened.write(call) : opened.read(call);
        ASSERT_TRUE(out.error.has_value()) << "rank " << rank;
        EXPECT_EQ(out.error->code, ErrorCode::input_output);
        EXPECT_NE(out.error->message.find("/memory/file at byte"), std::string::npos);
        EXPECT_NE(out.error->message.find("message"), std::string::npos) << out.error->message;
        EXPECT_EQ(out.error->message.find("Success"), std::string::npos) << out.error->message;
        const bool receives = (rank == 0);
        EXPECT_EQ(out.error->message.find("it is of another kind") != std::string::npos, receives)
            << out.error->message;
        if (direction == ports::Direction::read) {
            const auto moved = out.bytes.bytes();
            EXPECT_EQ(std::count(memory.begin(), memory.begin() + moved, std::byte{7}), moved);
        }
    });
}

TEST(Courier, SaysWhenWhatWasWrittenElsewhereMakesNoSense) {
    expect_a_clear_error(written_data, ports::Direction::write);
}

TEST(Courier, SaysWhenWhatAnotherNodeWantsMakesNoSense) {
    expect_a_clear_error(wants, ports::Direction::read);
}

TEST(Courier, SaysWhenWhatWasReadElsewhereMakesNoSense) {
    expect_a_clear_error(read_data, ports::Direction::read);
}

}  // namespace
}  // namespace forebay::engine
