// Tests the messages between daemons, as bytes.
#include "pool/cluster/transport/peer_messages.hpp"

#include "pool/protocol/limits.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace forebay::protocol {
namespace {

using tokens::Token;
using tokens::TokenMessage;

TokenMessage question() {
    return {.kind = TokenMessage::Kind::ask, .token = Token::read, .file = {7}, .number = 0};
}

constexpr auto block = static_cast<std::uint32_t>(pool::block_bytes);

TEST(Peers, AWordIsTakenAsItWasSent) {
    const TokenMessage message{.kind = TokenMessage::Kind::grant,
                               .token = Token::read,
                               .file = {~std::uint64_t{0}},
                               .number = 7,
                               .grant = 8,
                               .parent = {9, 10}};
    const PeerReadRequest wanted{.file = {1},
                                 .grant = 2,
                                 .number = 3,
                                 .at = 4,
                                 .bytes = block - 4,
                                 .file_bytes = 6,
                                 .modified_ns = -7,
                                 .changed_ns = 8};
    const PeerReadPart part{
        .number = 1, .whole = 9, .begin = 7, .bytes = {std::byte{1}, std::byte{2}}};
    const PeerReadPart empty{.number = 1, .whole = 0};
    const PeerReadPart refused{.number = 5, .refused = true};
    for (const PeerWord& sent : std::vector<PeerWord>{message, wanted, part, empty, refused}) {
        EXPECT_EQ(peer_word_of(bytes_of(sent)), sent) << sent.index();
    }
}

TEST(Peers, BytesThatLieInTwoBlocksAreNotAskedFor) {
    EXPECT_TRUE(peer_word_of(bytes_of(PeerReadRequest{.at = 1, .bytes = block - 1})));
    EXPECT_FALSE(peer_word_of(bytes_of(PeerReadRequest{.at = 1, .bytes = block})));
    EXPECT_FALSE(peer_word_of(bytes_of(PeerReadRequest{.at = -1, .bytes = 1})));
    EXPECT_FALSE(peer_word_of(bytes_of(PeerReadRequest{.at = 0, .bytes = 0})));
}

// Regression: the daemon that was asked for such bytes aborted.
TEST(Peers, BytesBeyondTheLastOffsetAreNotAskedFor) {
    EXPECT_TRUE(peer_word_of(bytes_of(PeerReadRequest{.at = INT64_MAX - 10, .bytes = 10})));
    EXPECT_FALSE(peer_word_of(bytes_of(PeerReadRequest{.at = INT64_MAX - 10, .bytes = 11})));
}

TEST(Peers, APartLiesWithinTheWhole) {
    const std::vector<std::byte> two(2);
    EXPECT_TRUE(
        peer_word_of(bytes_of(PeerReadPart{.whole = block, .begin = block - 2, .bytes = two})));
    EXPECT_FALSE(
        peer_word_of(bytes_of(PeerReadPart{.whole = block, .begin = block - 1, .bytes = two})));
    EXPECT_FALSE(peer_word_of(bytes_of(PeerReadPart{.whole = 2, .begin = 3})));
    EXPECT_FALSE(peer_word_of(bytes_of(PeerReadPart{.whole = block + 1, .bytes = two})));
    EXPECT_FALSE(peer_word_of(bytes_of(PeerReadPart{.refused = true, .whole = 2, .bytes = two})));
}

TEST(Corpus, HasWordsOfEachKind) {
    std::set<std::size_t> kinds;
    const std::filesystem::path folder{FOREBAY_SOURCE_DIR
                                       "/tests/fuzz/pool_cluster_peer_messages_fuzz"};
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        std::ifstream file{entry.path(), std::ios::binary};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        if (const auto word = peer_word_of(std::as_bytes(std::span{text}))) {
            kinds.insert(word->index());
        }
    }
    EXPECT_EQ(kinds.size(), std::variant_size_v<PeerWord>);
}

TEST(Peers, WhatIsNoMessageIsNone) {
    const std::vector<std::byte> right = bytes_of(question());
    EXPECT_TRUE(peer_word_of(right));
    EXPECT_FALSE(peer_word_of(std::span{right}.first(right.size() - 1)));
    EXPECT_FALSE(peer_word_of({}));
    for (const std::size_t at : {0U, 4U, 5U, 6U, 7U}) {  // format, kind, token
        std::vector<std::byte> wrong = right;
        wrong.at(at) = std::byte{0x7F};
        EXPECT_FALSE(peer_word_of(wrong)) << "byte " << at;
    }
    std::vector<std::byte> no_kind = right;
    no_kind.at(4) = std::byte{0};
    EXPECT_FALSE(peer_word_of(no_kind));
}

}  // namespace
}  // namespace forebay::protocol
