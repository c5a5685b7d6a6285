// What daemons say to each other, as bytes.
#include "wire/peers.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace forebay::wire {
namespace {

using registry::Message;
using registry::Token;

TEST(Peers, AMessageIsTakenAsItWasSent) {
    const Message sent{.kind = Message::Kind::given_back,
                       .token = Token::through,
                       .file = {~std::uint64_t{0}},
                       .number = 7};
    EXPECT_EQ(message_of(bytes_of(sent)), sent);
}

TEST(Peers, WhatIsNoMessageIsNone) {
    const PeerBytes right =
        bytes_of({.kind = Message::Kind::ask, .token = Token::read, .file = {}, .number = 0});
    EXPECT_TRUE(message_of(right));
    EXPECT_FALSE(message_of(std::span{right}.first(peer_bytes - 1)));
    EXPECT_FALSE(message_of({}));
    for (const std::size_t at : {0U, 4U, 5U, 6U, 7U}) {  // format, kind, token
        PeerBytes wrong = right;
        wrong.at(at) = std::byte{0x7F};
        EXPECT_FALSE(message_of(wrong)) << "byte " << at;
    }
    PeerBytes no_kind = right;
    no_kind.at(4) = std::byte{0};
    EXPECT_FALSE(message_of(no_kind));
}

}  // namespace
}  // namespace forebay::wire
