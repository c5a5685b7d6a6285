// What daemons say to each other, as bytes.
#include "wire/peers.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <span>
#include <string>

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

TEST(Corpus, HasMessages) {
    int messages = 0;
    const std::filesystem::path folder{FOREBAY_SOURCE_DIR "/tests/fuzz/wire_peers_fuzz"};
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        std::ifstream file{entry.path(), std::ios::binary};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        messages += message_of(std::as_bytes(std::span{text})) ? 1 : 0;
    }
    EXPECT_GT(messages, 0);
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
