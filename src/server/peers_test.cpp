// Two daemons that know each other, over TCP on this machine.
#include "server/peers.hpp"

#include <future>
#include <gtest/gtest.h>
#include <poll.h>

namespace forebay::server {
namespace {

using registry::Message;

class SetClock final : public ports::Clock {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now; }
    std::int64_t now = 0;
};

struct Pair {
    Pair() {
        auto left = Peers::listen("127.0.0.1", {0, 2}, clock);
        auto right = Peers::listen("127.0.0.1", {1, 2}, clock);
        EXPECT_TRUE(left && right);
        zero = std::move(*left);
        one = std::move(*right);
        PeerList list;
        list.addresses = {zero->address(), one->address()};
        auto joined = std::async(std::launch::async, [&] { return bool{zero->join(list)}; });
        EXPECT_TRUE(one->join(list));
        EXPECT_TRUE(joined.get());
    }

    // What has come within this time.
    std::vector<Message> heard_by_one(int wait_ms) const {
        pollfd news{.fd = one->descriptor(), .events = POLLIN, .revents = 0};
        ::poll(&news, 1, wait_ms);
        one->turn();
        std::vector<Message> heard;
        for (const Post::Letter& letter : one->arrived()) {
            heard.push_back(letter.message);
        }
        return heard;
    }

    SetClock clock;
    std::unique_ptr<Peers> zero;
    std::unique_ptr<Peers> one;
};

Message of_kind(Message::Kind kind) {
    return {.kind = kind, .token = registry::Token::read, .file = {7}, .number = 0};
}

constexpr int soon_ms = 10'000;
constexpr int not_at_all_ms = 20;

TEST(Peers, WhatNobodyWaitsForIsSentALittleLater) {
    Pair both;
    const Message forgotten = of_kind(Message::Kind::forgotten);
    both.zero->send(1, forgotten);
    both.zero->turn();
    EXPECT_TRUE(both.zero->has_something_for_later());
    EXPECT_TRUE(both.heard_by_one(not_at_all_ms).empty());
    both.clock.now += Peers::later_ns;
    both.zero->turn();
    EXPECT_FALSE(both.zero->has_something_for_later());
    EXPECT_EQ(both.heard_by_one(soon_ms), std::vector{forgotten});
}

TEST(Peers, WhatIsAskedTakesAlongWhatNobodyWaitsFor) {
    Pair both;
    const Message forgotten = of_kind(Message::Kind::forgotten);
    const Message asked = of_kind(Message::Kind::ask);
    both.zero->send(1, forgotten);
    both.zero->send(1, asked);
    EXPECT_EQ(both.heard_by_one(soon_ms), (std::vector{forgotten, asked}));
}

TEST(Peers, AnAnswerIsNearOnlyWhileAHomeHasNotSaidIt) {
    Pair both;
    EXPECT_FALSE(both.one->answer_may_be_near());
    both.one->send(0, of_kind(Message::Kind::ask));
    EXPECT_TRUE(both.one->answer_may_be_near());
    both.zero->send(1, of_kind(Message::Kind::grant));
    EXPECT_EQ(both.heard_by_one(soon_ms).size(), 1U);
    EXPECT_FALSE(both.one->answer_may_be_near());
    both.one->send(0, of_kind(Message::Kind::ask));
    both.clock.now += Peers::near_ns;
    EXPECT_FALSE(both.one->answer_may_be_near());
}

}  // namespace
}  // namespace forebay::server
