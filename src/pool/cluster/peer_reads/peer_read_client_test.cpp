// Tests that bytes are read through another node, and from the file where that fails.
#include "pool/cluster/peer_reads/peer_read_client.hpp"

#include "foundation/ports/completions.hpp"
#include "foundation/ports/polled_storage_check.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <vector>

namespace forebay::cluster {
namespace {

constexpr tokens::FileKey file{7};
constexpr tokens::Parent parent{3, 40};
constexpr std::size_t file_bytes = 5000;

std::vector<std::byte> contents() {
    std::vector<std::byte> bytes(file_bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i % 251);
    }
    return bytes;
}

// A transport that remembers requests, and answers as the test says.
class Scripted final : public PeerTransport {
public:
    void send(tokens::Node /*to*/, const tokens::TokenMessage& /*message*/) override {}
    std::vector<PeerMessage> arrived() override { return {}; }
    std::vector<tokens::Node> gone() override { return {}; }
    bool anybody_silent() override { return false; }
    void ask(tokens::Node of, const protocol::PeerReadRequest& one) override {
        EXPECT_EQ(of, parent.node);
        wanted.push_back(one);
    }
    std::vector<Request> requests() override { return {}; }
    void pass(tokens::Node /*to*/, std::uint64_t /*number*/,
              std::vector<std::byte> /*bytes*/) override {}
    bool takes_more(tokens::Node /*node*/) override { return true; }
    void refuse(tokens::Node /*to*/, std::uint64_t /*number*/) override {}
    std::vector<ReceivedPart> passed() override { return std::exchange(parts, {}); }
    bool reachable(tokens::Node node) override { return !lost.contains(node); }

    // Answers the last request with a part of its bytes, from `begin` to `end`.
    void say(std::size_t begin, std::size_t end, std::size_t whole) {
        const std::vector<std::byte> all = contents();
        const auto at = [&](std::size_t place) {
            return all.begin() + wanted.back().at + static_cast<std::ptrdiff_t>(place);
        };
        parts.push_back({parent.node,
                         {.number = wanted.back().number,
                          .whole = static_cast<std::uint32_t>(whole),
                          .begin = static_cast<std::uint32_t>(begin),
                          .bytes = {at(begin), at(end)}}});
    }

    std::vector<protocol::PeerReadRequest> wanted;
    std::vector<ReceivedPart> parts;
    std::set<tokens::Node> lost;
};

// A storage whose requests are complete at once.
class Own final : public ports::PolledStorage {
public:
    explicit Own(int& reads) : reads_{reads} {}
    void submit(const ports::Request& request) override {
        ++reads_;
        std::int64_t moved = 0;
        const std::vector<std::byte> all = contents();
        for (const ports::Piece& piece : request.pieces) {
            const auto from = std::span{all}.subspan(
                std::min(static_cast<std::size_t>(piece.at.bytes()), all.size()));
            const auto some = from.first(std::min(from.size(), piece.bytes.size()));
            std::ranges::copy(some, piece.bytes.begin());
            moved += std::ssize(some);
        }
        done_.push_back({.ticket = request.ticket, .bytes = Length{moved}});
    }
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        return ports::take_oldest(done_, out);
    }

private:
    int& reads_;
    std::vector<ports::RequestCompletion> done_;
};

struct Reading {
    Reading() { submit(1000, 2000); }
    void submit(std::int64_t at, std::size_t bytes) {
        memory.assign(bytes, std::byte{0xEE});
        piece = {Offset{at}, memory};
        storage->submit(
            {.direction = IoDirection::read, .ticket = 5, .pieces = {&piece, 1}, .at_once = false});
    }
    // How many bytes the request got, all of them right; -1: it has not ended.
    std::int64_t got() {
        static_cast<void>(passed.run_once());
        std::array<ports::RequestCompletion, 4> out;
        std::size_t count = storage->poll(out);
        if (count == 0) {
            count = storage->poll(out);  // a refused request is read from the file
        }
        return count == 1 ? judged(out[0]) : -1;
    }
    std::int64_t judged(const ports::RequestCompletion& one) const {
        EXPECT_EQ(one.ticket, 5U);
        EXPECT_EQ(one.system, 0);
        const std::vector<std::byte> all = contents();
        const std::size_t count = one.bytes.size();
        EXPECT_TRUE(std::ranges::equal(
            std::span{memory}.first(count),
            std::span{all}.subspan(static_cast<std::size_t>(piece.at.bytes()), count)));
        return one.bytes.bytes();
    }

    Scripted post;
    tokens::Parent by = parent;
    PeerReadClient passed{post, [this](tokens::FileKey) { return by; }};
    int own_reads = 0;
    std::shared_ptr<ports::ChangeStamp> seen =
        std::make_shared<ports::ChangeStamp>(ports::ChangeStamp{1, 2, 3});
    std::unique_ptr<ports::FileStorage> storage =
        read_by(std::make_unique<Own>(own_reads), passed, file, seen);
    std::vector<std::byte> memory;
    ports::Piece piece;
};

TEST(PeerReadClient, BytesComeInParts) {
    Reading one;
    ASSERT_EQ(one.post.wanted.size(), 1U);
    const protocol::PeerReadRequest& wanted = one.post.wanted.front();
    EXPECT_EQ(wanted.file, file);
    EXPECT_EQ(wanted.grant, parent.grant);
    EXPECT_EQ(wanted.at, 1000);
    EXPECT_EQ(wanted.bytes, 2000U);
    EXPECT_EQ(wanted.changed_ns, 3);
    EXPECT_EQ(one.got(), -1);
    one.post.say(0, 1500, 2000);
    EXPECT_EQ(one.got(), -1);
    one.post.say(1500, 2000, 2000);
    EXPECT_EQ(one.got(), 2000);
    EXPECT_EQ(one.own_reads, 0);
    EXPECT_EQ(one.passed.bytes(), 2000);
}

TEST(PeerReadClient, TheFileMayEnd) {
    Reading one;
    one.post.say(0, 700, 700);
    EXPECT_EQ(one.got(), 700);
    EXPECT_EQ(one.own_reads, 0);
}

TEST(PeerReadClient, WhatIsRefusedIsRead) {
    Reading one;
    one.post.parts.push_back(
        {parent.node, {.number = one.post.wanted.front().number, .refused = true}});
    EXPECT_EQ(one.got(), 2000);
    EXPECT_EQ(one.own_reads, 1);
}

TEST(PeerReadClient, WhatDoesNotFitTogetherIsRead) {
    for (const auto& [begin, end, whole] : {std::array{100, 200, 2000}, std::array{0, 100, 2001}}) {
        Reading one;
        one.post.say(static_cast<std::size_t>(begin), static_cast<std::size_t>(end),
                     static_cast<std::size_t>(whole));
        EXPECT_EQ(one.got(), 2000);
        EXPECT_EQ(one.own_reads, 1);
    }
}

TEST(PeerReadClient, WhereNobodyPassesItOnItIsRead) {
    Reading one;
    one.post.lost.insert(parent.node);  // the parent is lost after the request …
    EXPECT_EQ(one.got(), 2000);
    one.submit(0, 10);  // … and before it
    EXPECT_EQ(one.got(), 10);
    one.post.lost.clear();
    one.by = {};
    one.submit(0, 10);
    EXPECT_EQ(one.got(), 10);
    EXPECT_EQ(one.own_reads, 3);
    EXPECT_EQ(one.post.wanted.size(), 1U);
}

TEST(PeerReadClient, WhoeverWaitsReadsItself) {
    Reading one;
    std::array<ports::RequestCompletion, 4> out;
    ASSERT_EQ(one.storage->wait(out), 1U);
    EXPECT_EQ(one.judged(out[0]), 2000);
    one.post.say(0, 2000, 2000);  // the answer comes too late
    EXPECT_FALSE(one.passed.take(one.post.wanted.front().number)->bytes > 0);
}

TEST(PeerReadClient, NobodyElseAnswers) {
    Reading one;
    one.post.say(0, 2000, 2000);
    one.post.parts.back().from = parent.node + 1;
    EXPECT_EQ(one.got(), -1);
}

TEST(PeerReadClient, WhatComesBehindTheEndGoesNowhere) {
    Reading one;
    one.post.say(0, 2000, 2000);
    one.storage.reset();
    one.memory = {};
    static_cast<void>(one.passed.run_once());
    EXPECT_EQ(one.passed.bytes(), 0);
}

}  // namespace
}  // namespace forebay::cluster
