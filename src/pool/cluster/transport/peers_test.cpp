// Two daemons that are connected by TCP on this machine.
#include "pool/cluster/transport/peers.hpp"

#include "storage/posix/clock.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <dlfcn.h>
#include <future>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>

namespace {

constexpr std::string_view host_of_two = "two-addresses.invalid";

}  // namespace

// In place of libc's: one host has two addresses, and nobody listens at the first of them.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* wanted,
                           addrinfo** found) {
    static auto* const of_libc =
        reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (host == nullptr || host != host_of_two) {
        return of_libc(host, port, wanted, found);
    }
    const int error = of_libc("127.0.0.3", port, wanted, found);
    return error != 0 ? error : of_libc("127.0.0.1", port, wanted, &(*found)->ai_next);
}

namespace forebay::cluster {
namespace {

using tokens::TokenMessage;

class SetClock final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now; }
    std::int64_t now = 0;
};

struct Pair {
    Pair() {
        auto left = PeerConnections::listen("127.0.0.1", {0, 2}, clock);
        auto right = PeerConnections::listen("127.0.0.1", {1, 2}, clock);
        EXPECT_TRUE(left && right);
        zero = std::move(*left);
        one = std::move(*right);
        PeerList list;
        list.addresses = {zero->address(), one->address()};
        auto joined = std::async(std::launch::async, [&] { return bool{zero->join(list)}; });
        EXPECT_TRUE(one->join(list));
        EXPECT_TRUE(joined.get());
    }

    // The messages that arrive within `wait_ms`.
    std::vector<TokenMessage> heard_by_one(int wait_ms) const {
        pollfd news{.fd = one->descriptor(), .events = POLLIN, .revents = 0};
        ::poll(&news, 1, wait_ms);
        one->run_once();
        std::vector<TokenMessage> heard;
        for (const PeerTransport::PeerMessage& message : one->arrived()) {
            heard.push_back(message.message);
        }
        return heard;
    }

    SetClock clock;
    std::unique_ptr<PeerConnections> zero;
    std::unique_ptr<PeerConnections> one;
};

TokenMessage of_kind(TokenMessage::Kind kind) {
    return {.kind = kind, .token = tokens::Token::read, .file = {7}, .number = 0};
}

constexpr int soon_ms = 10'000;
constexpr int not_at_all_ms = 20;

TEST(PeerConnections, WhatNobodyWaitsForIsSentALittleLater) {
    Pair both;
    const TokenMessage forgotten = of_kind(TokenMessage::Kind::forgotten);
    both.zero->send(1, forgotten);
    both.zero->run_once();
    EXPECT_TRUE(both.zero->has_something_for_later());
    EXPECT_TRUE(both.heard_by_one(not_at_all_ms).empty());
    both.clock.now += PeerConnections::later_ns;
    both.zero->run_once();
    EXPECT_FALSE(both.zero->has_something_for_later());
    EXPECT_EQ(both.heard_by_one(soon_ms), std::vector{forgotten});
}

TEST(PeerConnections, WhatIsAskedTakesAlongWhatNobodyWaitsFor) {
    Pair both;
    const TokenMessage forgotten = of_kind(TokenMessage::Kind::forgotten);
    const TokenMessage asked = of_kind(TokenMessage::Kind::ask);
    both.zero->send(1, forgotten);
    both.zero->send(1, asked);
    EXPECT_EQ(both.heard_by_one(soon_ms), (std::vector{forgotten, asked}));
}

TEST(PeerConnections, AnAnswerIsNearOnlyWhileAHomeHasNotSaidIt) {
    Pair both;
    EXPECT_FALSE(both.one->answer_may_be_near());
    both.one->send(0, of_kind(TokenMessage::Kind::ask));
    EXPECT_TRUE(both.one->answer_may_be_near());
    both.zero->send(1, of_kind(TokenMessage::Kind::grant));
    EXPECT_EQ(both.heard_by_one(soon_ms).size(), 1U);
    EXPECT_FALSE(both.one->answer_may_be_near());
    both.one->send(0, of_kind(TokenMessage::Kind::ask));
    both.clock.now += PeerConnections::near_ns;
    EXPECT_FALSE(both.one->answer_may_be_near());
}

// A stranger's connection to a daemon at this address, over which it sends nothing.
OwnFd stranger_at(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    EXPECT_EQ(::inet_pton(AF_INET, address.substr(0, colon).c_str(), &name.sin_addr), 1);
    OwnFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const int done = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
    return done == 0 ? std::move(socket) : OwnFd{};
}

bool is_closed(const OwnFd& socket) {
    constexpr int flags = 0;
    std::array<char, 256> words{};
    ssize_t got = 0;
    do {
        got = ::recv(socket.get(), words.data(), words.size(), flags);
    } while (got > 0);
    return got == 0 || errno == ECONNRESET;
}

TEST(PeerConnections, StrangersThatSayNothingKeepNobodyFromMeeting) {
    const adapters::SteadyClock clock;
    auto zero = PeerConnections::listen("127.0.0.1", {0, 2}, clock);
    auto one = PeerConnections::listen("127.0.0.1", {1, 2}, clock);
    ASSERT_TRUE(zero && one);
    std::vector<OwnFd> strangers;
    for (std::size_t i = 0; i < PeerConnections::strangers_max + 50; ++i) {
        strangers.push_back(stranger_at((*zero)->address()));
        ASSERT_TRUE(strangers.back().valid());
    }
    PeerList list;
    list.addresses = {(*zero)->address(), (*one)->address()};
    auto joined = std::async(std::launch::async, [&] { return bool{(*zero)->join(list)}; });
    const auto met = (*one)->join(list);
    EXPECT_TRUE(met) << met.error().message;
    EXPECT_TRUE(joined.get());
    EXPECT_TRUE(std::ranges::all_of(strangers, is_closed)) << "when all have met, they are ended";
    EXPECT_FALSE(stranger_at((*zero)->address()).valid()) << "and nobody listens any more";
    EXPECT_EQ((*zero)->complaints().size(), 1U) << "which is said once";
}

TEST(PeerConnections, MeetAtAnAddressOfAHostWhoseFirstOneIsDead) {
    const adapters::SteadyClock clock;
    auto zero = PeerConnections::listen("127.0.0.1", {0, 2}, clock);
    auto one = PeerConnections::listen("127.0.0.1", {1, 2}, clock);
    ASSERT_TRUE(zero && one);
    PeerList list;
    list.addresses = {(*zero)->address(), (*one)->address()};
    list.addresses.front().replace(0, list.addresses.front().rfind(':'), host_of_two);
    auto joined = std::async(std::launch::async, [&] { return (*one)->join(list); });
    while (joined.wait_for(std::chrono::seconds{0}) != std::future_status::ready) {
        pollfd news{.fd = (*zero)->descriptor(), .events = POLLIN, .revents = 0};
        ::poll(&news, 1, not_at_all_ms);
        (*zero)->run_once();
    }
    const auto met = joined.get();
    EXPECT_TRUE(met) << met.error().message;
}

TEST(PeerConnections, ListenAtTheAddressThatTheyTell) {
    const SetClock clock;
    const auto one = PeerConnections::listen("127.0.0.2", {0, 2}, clock);
    ASSERT_TRUE(one);
    EXPECT_TRUE((*one)->address().starts_with("127.0.0.2:"));
    std::string elsewhere = (*one)->address();
    elsewhere.replace(0, elsewhere.rfind(':'), "127.0.0.1");
    EXPECT_TRUE(stranger_at((*one)->address()).valid());
    EXPECT_FALSE(stranger_at(elsewhere).valid());
}

}  // namespace
}  // namespace forebay::cluster
