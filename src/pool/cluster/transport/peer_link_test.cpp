// Two PeerLinks over sockets: authentication, messages, and attacks in between.
#include "pool/cluster/transport/peer_link.hpp"

#include <array>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace forebay::cluster {
namespace {

using tokens::Token;
using tokens::TokenMessage;

std::array<OwnFd, 2> connected() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    return {OwnFd{ends[0]}, OwnFd{ends[1]}};
}

Secret secret(unsigned char byte) {
    Secret made{};
    made.fill(byte);
    return made;
}

protocol::PeerWord message(std::uint64_t number) {
    return TokenMessage{
        .kind = TokenMessage::Kind::revoke, .token = Token::none, .file = {7}, .number = number};
}

void let_talk(PeerLink& one, PeerLink& other) {
    for (int i = 0; i < 8; ++i) {
        for (PeerLink* const link : {&one, &other}) {
            link->note_event();
            link->run_once();
        }
    }
}

// Two daemons of one job, connected directly.
struct Talkers {
    Talkers() : Talkers{connected()} {}
    void talk() { let_talk(zero, one); }

    PeerLink zero;
    PeerLink one;

private:
    explicit Talkers(std::array<OwnFd, 2> ends)
        : zero{std::move(ends[0]), {0, 2}, secret(1)}, one{std::move(ends[1]), {1, 2}, secret(1)} {}
};

// The bytes that one side has sent, as they are on the wire.
std::vector<std::byte> read_all(const OwnFd& socket) {
    std::vector<std::byte> bytes(65536);
    const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

void write_all(const OwnFd& socket, std::span<const std::byte> bytes) {
    ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT),
              static_cast<ssize_t>(bytes.size()));
}

TEST(PeerLink, MessagesComeInOrder) {
    Talkers both;
    auto& [zero, one] = both;
    zero.send(message(1));  // before the other side is authenticated
    both.talk();
    ASSERT_EQ(zero.state(), PeerLink::State::established);
    ASSERT_EQ(one.state(), PeerLink::State::established);
    EXPECT_EQ(zero.other(), 1U);
    EXPECT_EQ(one.other(), 0U);
    zero.send(message(2));
    zero.send(message(3));
    one.send(message(4));
    both.talk();
    for (const std::uint64_t number : {1U, 2U, 3U}) {
        EXPECT_EQ(one.next(), message(number));
    }
    EXPECT_FALSE(one.next());
    EXPECT_EQ(zero.next(), message(4));
}

TEST(PeerLink, WhoDoesNotKnowTheSecretIsSentAway) {
    auto [left, right] = connected();
    PeerLink zero{std::move(left), {0, 2}, secret(1)};
    PeerLink one{std::move(right), {1, 2}, secret(2)};
    let_talk(zero, one);
    EXPECT_EQ(zero.state(), PeerLink::State::refused);
    EXPECT_EQ(zero.why(), "it does not know the job's secret");
    EXPECT_NE(one.state(), PeerLink::State::established);
    EXPECT_FALSE(one.next());
}

TEST(PeerLink, AnotherJobOrTheSameNumberIsSentAway) {
    for (const ClusterPlace seat : {ClusterPlace{1, 3}, ClusterPlace{0, 2}}) {
        auto [left, right] = connected();
        PeerLink zero{std::move(left), {0, 2}, secret(1)};
        PeerLink one{std::move(right), seat, secret(1)};
        let_talk(zero, one);
        EXPECT_EQ(one.state(), PeerLink::State::refused);
        EXPECT_EQ(zero.state(), PeerLink::State::ended);
    }
}

TEST(PeerLink, WhatWasRecordedBeforeIsNotHeardAgain) {
    std::vector<std::byte> recorded;
    {
        auto [left, middle] = connected();
        auto [other_middle, right] = connected();
        PeerLink zero{std::move(left), {0, 2}, secret(1)};
        PeerLink one{std::move(right), {1, 2}, secret(1)};
        one.send(message(1));
        for (int i = 0; i < 8; ++i) {  // a man in the middle records the bytes
            let_talk(zero, one);
            const auto from_one = read_all(other_middle);
            recorded.insert(recorded.end(), from_one.begin(), from_one.end());
            write_all(middle, from_one);
            write_all(other_middle, read_all(middle));
        }
        let_talk(zero, one);
        ASSERT_EQ(zero.next(), message(1));
    }
    auto [left, right] = connected();
    PeerLink zero{std::move(left), {0, 2}, secret(1)};
    write_all(right, recorded);
    zero.run_once();
    EXPECT_EQ(zero.state(), PeerLink::State::refused);
    EXPECT_FALSE(zero.next());
}

TEST(PeerLink, AMessageThatIsSaidTwiceIsNotHeardTwice) {
    std::array<OwnFd, 2> near = connected();  // the sockets of zero, and
    std::array<OwnFd, 2> far = connected();   // … of one; a man in the middle has the other ends
    PeerLink zero{std::move(near[0]), {0, 2}, secret(1)};
    PeerLink one{std::move(far[0]), {1, 2}, secret(1)};
    const auto pass = [&](int times) {
        let_talk(zero, one);
        const auto from_one = read_all(far[1]);
        for (int i = 0; i < times; ++i) {
            write_all(near[1], from_one);
        }
        write_all(far[1], read_all(near[1]));
        let_talk(zero, one);
    };
    for (int i = 0; i < 4; ++i) {
        pass(1);
    }
    ASSERT_EQ(zero.state(), PeerLink::State::established);
    one.send(message(5));
    pass(2);
    EXPECT_EQ(zero.next(), message(5));
    EXPECT_FALSE(zero.next());
    EXPECT_EQ(zero.state(), PeerLink::State::refused);
}

// Bytes of a file are sent in parts; messages that are sent later do not wait for all of them.
TEST(PeerLink, BytesOfAFileComeInPartsAndMessagesBetweenThem) {
    Talkers both;
    auto& [zero, one] = both;
    both.talk();
    std::vector<std::byte> bytes(std::size_t{1} << 20);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13U);
    }
    const protocol::PeerReadRequest wanted{
        .file = {7}, .grant = 3, .number = 11, .at = 4096, .bytes = 4096};
    one.send(wanted);
    zero.pass(11, bytes);
    zero.run_once();  // the socket takes a part of it
    zero.send(message(1));
    std::vector<std::byte> got;
    std::size_t before_message = 0;
    for (int i = 0; i < 100 && (got.size() < bytes.size() || before_message == 0); ++i) {
        both.talk();
        while (const auto word = one.next()) {
            if (const auto* const part = std::get_if<protocol::PeerReadPart>(&*word)) {
                EXPECT_EQ(part->number, 11U);
                EXPECT_EQ(part->whole, bytes.size());
                EXPECT_EQ(part->begin, got.size());
                got.insert(got.end(), part->bytes.begin(), part->bytes.end());
            } else {
                EXPECT_EQ(*word, message(1));
                before_message = got.size();
            }
        }
    }
    EXPECT_EQ(got, bytes);
    EXPECT_LT(before_message, bytes.size());
    EXPECT_FALSE(zero.blocked());
    EXPECT_EQ(zero.next(), protocol::PeerWord{wanted});
}

TEST(PeerLink, WhatNobodyWaitsForGoesWithWhatIsSaidNext) {
    Talkers both;
    auto& [zero, one] = both;
    both.talk();
    zero.send(message(1), PeerLink::Haste::none);
    both.talk();
    EXPECT_FALSE(one.next());
    zero.send(message(2));
    both.talk();
    EXPECT_EQ(one.next(), message(1));
    EXPECT_EQ(one.next(), message(2));
    zero.send(message(3), PeerLink::Haste::none);
    zero.hasten();
    both.talk();
    EXPECT_EQ(one.next(), message(3));
    zero.hasten();  // nothing is held back
    zero.send(message(4), PeerLink::Haste::none);
    both.talk();
    EXPECT_FALSE(one.next());
}

// A daemon may forget all of its files at once. If so many messages were held back, the other side
// would be taken for one that reads nothing.
TEST(PeerLink, WhatNobodyWaitsForIsSentWhenItIsMuch) {
    Talkers both;
    auto& [zero, one] = both;
    both.talk();
    constexpr std::uint64_t many = 20'000;
    std::uint64_t heard = 0;
    for (std::uint64_t number = 1; number <= many; ++number) {
        zero.send(message(number), PeerLink::Haste::none);
        zero.run_once();
        one.note_event();
        one.run_once();
        while (const auto word = one.next()) {
            EXPECT_EQ(*word, message(++heard));
        }
    }
    EXPECT_EQ(zero.state(), PeerLink::State::established);
    EXPECT_GT(heard, many - 2000);
    EXPECT_LT(heard, many);
}

TEST(PeerLink, GarbageIsSentAway) {
    auto [left, right] = connected();
    PeerLink zero{std::move(left), {0, 2}, secret(1)};
    write_all(right, std::vector<std::byte>(4096, std::byte{0x5A}));
    zero.run_once();
    EXPECT_EQ(zero.state(), PeerLink::State::refused);
}

TEST(PeerLink, AnEndIsSeenAfterWhatWasSaidBefore) {
    auto [left, right] = connected();
    PeerLink zero{std::move(left), {0, 2}, secret(1)};
    {
        PeerLink one{std::move(right), {1, 2}, secret(1)};
        let_talk(zero, one);
        one.send(message(9));
        one.run_once();
    }
    zero.note_event();
    zero.run_once();
    EXPECT_EQ(zero.state(), PeerLink::State::ended);
    EXPECT_EQ(zero.next(), message(9));
}

// A daemon that is gone stays gone, and nothing is kept for it, however long the job goes on.
TEST(PeerLink, NothingIsKeptForADaemonThatIsGone) {
    auto [left, right] = connected();
    PeerLink zero{std::move(left), {0, 2}, secret(1)};
    {
        PeerLink one{std::move(right), {1, 2}, secret(1)};
        let_talk(zero, one);
        zero.pass(1, std::vector<std::byte>(std::size_t{4} << 20));
        zero.send(message(1));
        ASSERT_TRUE(zero.blocked());
    }
    zero.note_event();
    zero.run_once();
    ASSERT_EQ(zero.state(), PeerLink::State::ended);
    EXPECT_FALSE(zero.blocked()) << "what was to be sent is dropped";
    EXPECT_EQ(zero.bytes_to_pass(), 0U);
    for (std::size_t bytes = 0; bytes <= PeerLink::waiting_max; bytes += sizeof(TokenMessage)) {
        zero.send(message(2));
        zero.pass(2, std::vector<std::byte>(1));
    }
    EXPECT_FALSE(zero.blocked());
    EXPECT_EQ(zero.bytes_to_pass(), 0U);
    EXPECT_EQ(zero.state(), PeerLink::State::ended) << "it is not the network that gave up";
}

TEST(PeerLink, NothingIsKeptForOneThatIsSentAway) {
    auto [left, right] = connected();
    PeerLink zero{std::move(left), {0, 2}, secret(1)};
    write_all(right, std::vector<std::byte>(4096, std::byte{0x5A}));
    zero.run_once();
    ASSERT_EQ(zero.state(), PeerLink::State::refused);
    zero.send(message(1));
    EXPECT_FALSE(zero.blocked());
}

}  // namespace
}  // namespace forebay::cluster
