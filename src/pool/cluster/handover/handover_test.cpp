// Tests the two ends of a hand-over together: a storage that offers what it is to write, and the
// node that writes it, over a network that the test cuts.
#include "pool/cluster/handover/handover_client.hpp"
#include "pool/cluster/handover/handover_server.hpp"
#include "pool/cluster/handover/handover_storage.hpp"

#include "foundation/ports/completions.hpp"
#include "foundation/ports/polled_storage_check.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace forebay::cluster {
namespace {

constexpr tokens::Node sender = 0;
constexpr tokens::Node writer = 1;
constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

template <class Word>
using Words = std::vector<HandoverTransport::From<Word>>;

// The messages on their way to each of the two nodes.
struct HandoverNetwork {
    std::array<Words<protocol::HandoverOffer>, 2> offers;
    std::array<Words<protocol::HandoverReply>, 2> replies;
    std::array<Words<protocol::HandoverPart>, 2> parts;
    std::array<Words<std::uint64_t>, 2> withdrawals;
    std::set<tokens::Node> silent;
    std::set<tokens::Node> ended;
    std::set<tokens::Node> held;
    std::size_t parts_lost = 0;  // the last parts of this many offers do not arrive
    std::int64_t handed_bytes = 0;
};

class HandoverPost final : public HandoverTransport {
public:
    HandoverPost(HandoverNetwork& network, tokens::Node self) : network_{network}, self_{self} {}

    void offer(tokens::Node to, const protocol::HandoverOffer& offer) override {
        network_.offers.at(to).push_back({self_, offer});
    }
    void reply(tokens::Node to, const protocol::HandoverReply& reply) override {
        if (reply.kind == protocol::HandoverReply::Kind::withdrawn) {
            network_.withdrawals.at(to).push_back({self_, reply.number});
        } else {
            network_.replies.at(to).push_back({self_, reply});
        }
    }
    void hand_over(tokens::Node to, std::uint64_t number, std::vector<std::byte> bytes) override {
        const auto whole = static_cast<std::uint32_t>(bytes.size());
        network_.handed_bytes += whole;
        for (std::uint32_t begin = 0; begin < whole; begin += protocol::part_bytes_max) {
            const std::uint32_t length = std::min(protocol::part_bytes_max, whole - begin);
            if (begin + length == whole && network_.parts_lost > 0) {
                --network_.parts_lost;
                return;
            }
            const auto at = bytes.begin() + begin;
            network_.parts.at(to).push_back({self_, {number, whole, begin, {at, at + length}}});
        }
    }
    Words<protocol::HandoverOffer> offers() override { return take(network_.offers); }
    Words<protocol::HandoverReply> replies() override { return take(network_.replies); }
    Words<protocol::HandoverPart> handed_over() override { return take(network_.parts); }
    Words<std::uint64_t> withdrawals() override { return take(network_.withdrawals); }
    bool reachable(tokens::Node node) override {
        return !network_.silent.contains(node) && !network_.ended.contains(node);
    }
    bool has_ended(tokens::Node node) override { return network_.ended.contains(node); }
    void hold(tokens::Node node, bool holds) override {
        if (holds) {
            network_.held.insert(node);
        } else {
            network_.held.erase(node);
        }
    }
    std::string name_of(tokens::Node node) override { return "node" + std::to_string(node); }

private:
    template <class Word>
    Words<Word> take(std::array<Words<Word>, 2>& queues) {
        return std::exchange(queues.at(self_), {});
    }
    HandoverNetwork& network_;
    tokens::Node self_;
};

// The file as all nodes see it.
struct SharedFile {
    std::vector<std::byte> bytes = std::vector<std::byte>(std::size_t{40} << 20);
    int writes_here = 0;   // by the node whose bytes they are
    int writes_there = 0;  // by the other one
    bool hangs = false;    // requests of the other node do not end
    std::int64_t full_at = INT64_MAX;
};

class SharedStorage final : public ports::PolledStorage {
public:
    SharedStorage(SharedFile& file, int& writes, const bool& hangs)
        : file_{file}, writes_{writes}, hangs_{hangs} {}
    void submit(const ports::Request& request) override {
        ++writes_;
        begun_.push_back(request);
    }
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        if (!hangs_) {
            for (const ports::Request& request : std::exchange(begun_, {})) {
                done_.push_back(write(request));
            }
        }
        return ports::take_oldest(done_, out);
    }

private:
    ports::RequestCompletion write(const ports::Request& request) {
        ports::RequestCompletion done{.ticket = request.ticket, .bytes = Length{0}};
        for (const ports::Piece& piece : request.pieces) {
            const std::int64_t room = std::max(file_.full_at - piece.at.bytes(), std::int64_t{0});
            const auto some = std::min(piece.bytes.size(), static_cast<std::size_t>(room));
            std::ranges::copy(piece.bytes.first(some), file_.bytes.begin() + piece.at.bytes());
            done.bytes += Length{static_cast<std::int64_t>(some)};
            if (some < piece.bytes.size()) {
                done.system = ENOSPC;
                break;
            }
        }
        return done;
    }
    SharedFile& file_;
    int& writes_;
    const bool& hangs_;
    std::vector<ports::Request> begun_;
    std::vector<ports::RequestCompletion> done_;
};

class CallsAtOnce final : public ports::BackgroundIo {
public:
    void begin(std::uint64_t ticket, std::function<std::int64_t()> call) override {
        ended_.push_back({ticket, call()});
    }
    std::vector<Ended> ended() override { return std::exchange(ended_, {}); }

private:
    std::vector<Ended> ended_;
};

struct HandClock final : ports::TimeSource {
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now; }
    std::int64_t now = 1;
};

class Handover : public testing::Test {
protected:
    // Pieces of ranges of the file, filled with `fill`.
    ports::Request request(std::uint64_t ticket, const std::vector<Extent>& ranges, int fill) {
        Pieces& made = *pieces_.emplace_back(std::make_unique<Pieces>());
        for (const Extent& range : ranges) {
            made.memory.emplace_back(range.length.size(), static_cast<std::byte>(fill));
            made.pieces.push_back({range.begin, made.memory.back()});
        }
        return {.ticket = ticket, .pieces = made.pieces};
    }
    std::unique_ptr<HandoverStorage> storage(std::string path = "/shared/file") {
        return std::make_unique<HandoverStorage>(
            std::make_unique<SharedStorage>(file, file.writes_here, never_), client,
            FileForOthers{.identity = {.inode = 7}, .path = std::move(path)});
    }
    // Rounds of both nodes; returns what has completed.
    std::vector<ports::RequestCompletion> rounds(HandoverStorage& of, int count = 20) {
        std::vector<ports::RequestCompletion> all;
        for (int i = 0; i < count; ++i) {
            if (!network.silent.contains(writer) && !network.ended.contains(writer)) {
                server.run_once();
            }
            client.run_once();
            std::array<ports::RequestCompletion, 16> some;
            const std::size_t done = of.poll(some);
            all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(done));
        }
        return all;
    }
    [[nodiscard]] int byte_at(std::int64_t at) const {
        return static_cast<int>(file.bytes.at(static_cast<std::size_t>(at)));
    }

    HandoverNetwork network;
    SharedFile file;
    HandClock clock;
    HandoverPost post_of_sender{network, sender};
    HandoverPost post_of_writer{network, writer};
    CallsAtOnce io;
    HandoverClient client{post_of_sender, writer, clock};
    int opened = 0;
    HandoverServer server{
        {post_of_writer, io, clock},
        [this](const auto& /*identity*/, const std::string& path) -> Result<OpenedForOthers> {
            ++opened;
            if (path != "/shared/file") {
                return failure({ErrorCode::argument, ENOENT, "there is none"});
            }
            return OpenedForOthers{
                .storage = std::make_unique<SharedStorage>(file, file.writes_there, file.hangs),
                .stripes = {}};
        },
        {.bytes_max = 24 * mebibyte}};

private:
    struct Pieces {
        std::vector<std::vector<std::byte>> memory;
        std::vector<ports::Piece> pieces;
    };
    const bool never_ = false;
    std::vector<std::unique_ptr<Pieces>> pieces_;
};

Extent range(std::int64_t begin, std::int64_t length) { return {Offset{begin}, Length{length}}; }

TEST_F(Handover, TheWriterWritesAllPieces) {
    const auto of = storage();
    of->submit(request(9, {range(10, 100), range(110, 200'000), range(500'000, 1)}, 5));
    const auto done = rounds(*of);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done.front().ticket, 9U);
    EXPECT_EQ(done.front().bytes.bytes(), 200'101);
    EXPECT_EQ(done.front().system, 0);
    EXPECT_EQ(file.writes_here, 0);
    EXPECT_EQ(std::vector<int>({byte_at(9), byte_at(10), byte_at(200'109), byte_at(200'110)}),
              std::vector<int>({0, 5, 5, 0}));
    EXPECT_EQ(byte_at(500'000), 5);
    EXPECT_EQ(client.bytes(), 200'101);
    EXPECT_EQ(server.bytes(), 200'101);
    EXPECT_TRUE(server.idle());
}

// If these were written here, the writer could overwrite something newer when it wakes up.
TEST_F(Handover, WhatASilentWriterHasIsNotWrittenHere) {
    const auto of = storage();
    file.hangs = true;
    of->submit(request(1, {range(0, 100)}, 1));
    rounds(*of);
    EXPECT_TRUE(server.is_writing());
    EXPECT_TRUE(network.held.contains(sender));
    network.silent.insert(writer);
    EXPECT_TRUE(rounds(*of).empty());
    EXPECT_EQ(file.writes_here, 0);
    const auto stuck = client.stuck();
    ASSERT_TRUE(stuck);
    EXPECT_EQ(stuck->node, "node1");
    EXPECT_EQ(stuck->bytes, 100);
    EXPECT_EQ(stuck->path, "/shared/file");
    of->submit(request(2, {range(1000, 100)}, 2));
    ASSERT_EQ(rounds(*of).size(), 1U) << "what it does not have is written here";
    EXPECT_EQ(file.writes_here, 1);
    network.silent.clear();
    file.hangs = false;
    const auto done = rounds(*of);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done.front().ticket, 1U);
    EXPECT_EQ(byte_at(0), 1);
    EXPECT_FALSE(client.stuck());
    EXPECT_TRUE(network.held.empty());
}

TEST_F(Handover, WhatASilentWriterHasNotAcceptedIsWrittenHereAndNeverThere) {
    const auto of = storage();
    of->submit(request(1, {range(0, 100)}, 1));
    network.silent.insert(writer);
    ASSERT_EQ(rounds(*of).size(), 1U);
    EXPECT_EQ(file.writes_here, 1);
    of->submit(request(2, {range(0, 100)}, 2));  // newer bytes
    ASSERT_EQ(rounds(*of).size(), 1U);
    network.silent.clear();
    rounds(*of);
    EXPECT_EQ(file.writes_there, 0);
    EXPECT_EQ(byte_at(0), 2);
    EXPECT_TRUE(server.idle()) << "nothing is kept of what was withdrawn";
}

// The writer has more than it can write, or its file system hangs as it opens the file.
TEST_F(Handover, WhatIsNotAcceptedForLongIsWrittenHere) {
    const auto of = storage();
    file.hangs = true;
    for (std::uint64_t i = 0; i < 3; ++i) {
        of->submit(
            request(i, {range(static_cast<std::int64_t>(i) * 8 * mebibyte, 8 * mebibyte)}, 1));
    }
    EXPECT_TRUE(rounds(*of).empty());
    clock.now += HandoverClient::accepted_within_ns;
    EXPECT_EQ(rounds(*of).size(), 1U);
    EXPECT_EQ(file.writes_here, 1);
    file.hangs = false;
    EXPECT_EQ(rounds(*of, 100).size(), 2U);
    EXPECT_EQ(file.writes_here, 1);
}

TEST_F(Handover, AnAcceptanceThatComesTooLateSendsNothing) {
    const auto of = storage();
    of->submit(request(1, {range(0, 100)}, 1));
    server.run_once();
    server.run_once();
    ASSERT_EQ(network.replies.at(sender).size(), 1U) << "it is accepted, which is on its way";
    const auto late = std::exchange(network.replies.at(sender), {});
    network.silent.insert(writer);
    ASSERT_EQ(rounds(*of).size(), 1U);
    network.silent.clear();
    network.replies.at(sender) = late;
    rounds(*of);
    EXPECT_EQ(file.writes_there, 0);
    EXPECT_TRUE(server.idle());
}

TEST_F(Handover, AfterTheWritersEndTheBytesAreWrittenHere) {
    const auto of = storage();
    file.hangs = true;
    of->submit(request(1, {range(0, 100)}, 1));
    rounds(*of);
    network.ended.insert(writer);
    const auto done = rounds(*of);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done.front().bytes.bytes(), 100);
    EXPECT_EQ(file.writes_here, 1);
    EXPECT_FALSE(client.is_open());
}

TEST_F(Handover, AFileThatTheWriterCannotOpenIsOfferedOnce) {
    const auto of = storage("/shared/another");
    of->submit(request(1, {range(0, 100)}, 1));
    ASSERT_EQ(rounds(*of).size(), 1U);
    of->submit(request(2, {range(100, 100)}, 1));
    ASSERT_EQ(rounds(*of).size(), 1U);
    EXPECT_EQ(opened, 1);
    EXPECT_EQ(file.writes_here, 2);
}

TEST_F(Handover, AnErrorThereIsTheRequestsErrorHere) {
    const auto of = storage();
    file.full_at = 1050;
    of->submit(request(1, {range(0, 100), range(1000, 100), range(2000, 100)}, 1));
    const auto done = rounds(*of);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done.front().bytes.bytes(), 150);
    EXPECT_EQ(done.front().system, ENOSPC);
    EXPECT_EQ(file.writes_here, 0);
}

// A writer takes 16 MiB of one node at a time, here 24 MiB of all; the rest waits at the sender.
TEST_F(Handover, BytesOnTheirWayAreBounded) {
    const auto of = storage();
    file.hangs = true;
    for (std::uint64_t i = 0; i < 5; ++i) {
        of->submit(
            request(i, {range(static_cast<std::int64_t>(i) * 8 * mebibyte, 8 * mebibyte)}, 1));
    }
    rounds(*of);
    EXPECT_EQ(network.handed_bytes, 16 * mebibyte);
    file.hangs = false;
    EXPECT_EQ(rounds(*of, 100).size(), 5U);
    EXPECT_EQ(file.writes_here, 0);
}

// Regression: their channels took completions of each other's requests, and some never ended.
TEST_F(Handover, SeveralOffersOfOneFileAreWrittenAtATime) {
    const auto of = storage();
    file.hangs = true;
    for (std::uint64_t i = 0; i < 3; ++i) {
        of->submit(request(
            i,
            {range(static_cast<std::int64_t>(i) * mebibyte, 1000 + static_cast<std::int64_t>(i))},
            static_cast<int>(i) + 1));
        rounds(*of, 5);
    }
    file.hangs = false;
    const auto done = rounds(*of);
    ASSERT_EQ(done.size(), 3U);
    for (const ports::RequestCompletion& one : done) {
        EXPECT_EQ(one.bytes.bytes(), 1000 + static_cast<std::int64_t>(one.ticket));
    }
    EXPECT_EQ(server.bytes(), 3003);
    EXPECT_EQ(file.writes_there, 3) << "nothing was written twice";
}

TEST_F(Handover, AnOfferThatIsTooLargeIsWrittenHere) {
    const auto of = storage();
    of->submit(request(1, {range(0, 8 * mebibyte + 1)}, 1));
    ASSERT_EQ(rounds(*of).size(), 1U);
    EXPECT_EQ(file.writes_here, 1);
}

TEST_F(Handover, BytesOfASenderThatHasEndedAreDroppedUnlessTheyAreBeingWritten) {
    const auto of = storage();
    file.hangs = true;
    of->submit(request(1, {range(0, 100)}, 1));
    rounds(*of);
    network.parts_lost = 1;
    of->submit(request(2, {range(1000, 100)}, 1));
    rounds(*of);
    network.ended.insert(sender);
    server.run_once();
    EXPECT_TRUE(server.is_writing());
    file.hangs = false;
    server.run_once();
    EXPECT_FALSE(server.is_writing());
    EXPECT_TRUE(server.idle());
    EXPECT_EQ(byte_at(1000), 0);
}

TEST_F(Handover, WhoClosesDownFinishesWhatItWritesAndRefusesTheRest) {
    const auto of = storage();
    file.hangs = true;
    of->submit(request(1, {range(0, 100)}, 1));
    rounds(*of);
    network.parts_lost = 1;
    of->submit(request(2, {range(1000, 100)}, 2));
    rounds(*of);
    server.close_down();
    of->submit(request(3, {range(2000, 100)}, 3));
    EXPECT_EQ(rounds(*of).size(), 2U);
    EXPECT_EQ(file.writes_here, 2);
    EXPECT_TRUE(server.is_writing());
    file.hangs = false;
    EXPECT_EQ(rounds(*of).size(), 1U);
    EXPECT_EQ(std::vector<int>({byte_at(0), byte_at(1000), byte_at(2000)}),
              std::vector<int>({1, 2, 3}));
}

TEST_F(Handover, AFileIsClosedWhenNothingIsOfferedAnyMore) {
    const auto of = storage();
    of->submit(request(1, {range(0, 100)}, 1));
    rounds(*of);
    of->submit(request(2, {range(0, 100)}, 1));
    rounds(*of);
    EXPECT_EQ(opened, 1);
    clock.now += HandoverServer::unused_ns;
    server.run_once();
    of->submit(request(3, {range(0, 100)}, 1));
    rounds(*of);
    EXPECT_EQ(opened, 2);
}

TEST_F(Handover, PartsThatDoNotFitAreNotWritten) {
    const auto of = storage();
    of->submit(request(1, {range(0, 100)}, 1));
    server.run_once();
    server.run_once();
    network.parts.at(writer).push_back({sender, {1, 100, 50, std::vector<std::byte>(50)}});
    server.run_once();
    EXPECT_EQ(rounds(*of).size(), 1U);
    EXPECT_EQ(file.writes_there, 0);
    EXPECT_EQ(file.writes_here, 1);
}

}  // namespace
}  // namespace forebay::cluster
