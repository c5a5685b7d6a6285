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
    const HandoverOffer offer{
        .number = 1,
        .file = {.inode = 2, .system_type = 3, .system_id = 4, .birth_ns = 5, .generation = 6},
        .path = "/scratch/me/file",
        .ranges = {{0, 7}, {7, 1}, {100, 8}}};
    const HandoverReply accepted{.kind = HandoverReply::Kind::accepted, .number = 1};
    const HandoverReply written{
        .kind = HandoverReply::Kind::written, .number = 1, .bytes = 7, .error = 28};
    const HandoverPart handed{.number = 1, .whole = 16, .begin = 15, .bytes = {std::byte{1}}};
    for (const PeerWord& sent : std::vector<PeerWord>{message, wanted, part, empty, refused, offer,
                                                      accepted, written, handed}) {
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

HandoverOffer sample_offer(const std::vector<HandedRange>& ranges, std::string path = "/f") {
    return {.number = 1, .file = {.inode = 2}, .path = std::move(path), .ranges = ranges};
}

TEST(Peers, WhatIsOfferedAscendsAndHasABound) {
    const auto takes = [](const HandoverOffer& offer) {
        return peer_word_of(bytes_of(offer)).has_value();
    };
    EXPECT_TRUE(takes(sample_offer({{0, offer_bytes_max}})));
    EXPECT_FALSE(takes(sample_offer({{0, offer_bytes_max + 1}})));
    EXPECT_FALSE(takes(sample_offer({{0, offer_bytes_max}, {offer_bytes_max, 1}})));
    EXPECT_FALSE(takes(sample_offer({{0, UINT64_MAX}, {10, 2}})));
    EXPECT_FALSE(takes(sample_offer({{10, 2}, {11, 2}})));
    EXPECT_FALSE(takes(sample_offer({{-1, 2}})));
    EXPECT_FALSE(takes(sample_offer({{0, 0}})));
    EXPECT_TRUE(takes(sample_offer({{INT64_MAX - 2, 2}})));
    EXPECT_FALSE(takes(sample_offer({{INT64_MAX - 2, 3}})));
    EXPECT_TRUE(takes(sample_offer({{0, 1}}, "/" + std::string(offer_path_max - 1, 'x'))));
    EXPECT_FALSE(takes(sample_offer({{0, 1}}, "f")));
    EXPECT_FALSE(takes(sample_offer({{0, 1}}, std::string{"/f\0g", 4})));
}

TEST(Peers, ARefusalHasNoBytes) {
    using enum HandoverReply::Kind;
    EXPECT_FALSE(peer_word_of(bytes_of(HandoverReply{.kind = refused, .bytes = 1})));
    EXPECT_FALSE(peer_word_of(bytes_of(HandoverReply{.kind = written, .error = -1})));
    EXPECT_FALSE(
        peer_word_of(bytes_of(HandoverReply{.kind = written, .bytes = offer_bytes_max + 1})));
}

TEST(Peers, AHandedPartLiesWithinTheWhole) {
    const std::vector<std::byte> two(2);
    EXPECT_TRUE(peer_word_of(bytes_of(HandoverPart{.whole = 9, .begin = 7, .bytes = two})));
    EXPECT_FALSE(peer_word_of(bytes_of(HandoverPart{.whole = 9, .begin = 8, .bytes = two})));
    EXPECT_FALSE(peer_word_of(bytes_of(HandoverPart{.whole = 9, .begin = 9, .bytes = two})));
    EXPECT_FALSE(peer_word_of(bytes_of(HandoverPart{.whole = 9, .begin = 0, .bytes = {}})));
    EXPECT_FALSE(peer_word_of(bytes_of(HandoverPart{.whole = offer_bytes_max + 1, .bytes = two})));
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
