// The messages between the daemons of a job: tokens::TokenMessage, and those by which few nodes
// read for all of them (pool/cluster/peer_reads/peer_read_server.hpp). All nodes of a job are
// alike: numbers are as they lie in memory.
#pragma once

#include "pool/cluster/tokens/token.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace forebay::protocol {

// One more with each change of the messages.
inline constexpr std::uint32_t peer_format = 3;
// The most bytes of a file in one part.
inline constexpr std::uint32_t part_bytes_max = std::uint32_t{64} << 10;
// The longest message.
inline constexpr std::size_t peer_bytes_max = 128 + part_bytes_max;

// Bytes of a file that one daemon wants of another one, which passes it on to it.
struct PeerReadRequest {
    tokens::FileKey file{};
    std::uint64_t grant = 0;   // see tokens::Parent
    std::uint64_t number = 0;  // the answer's
    std::int64_t at = 0;
    std::uint32_t bytes = 0;  // all in one block
    // As the file was when it was opened: another file may have the same inode.
    std::int64_t file_bytes = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    auto operator<=>(const PeerReadRequest&) const noexcept = default;
};

// A part of the answer. They come in order.
struct PeerReadPart {
    std::uint64_t number = 0;
    bool refused = false;     // there are no bytes: the file is to be read
    std::uint32_t whole = 0;  // bytes in all; fewer than wanted where the file ends
    std::uint32_t begin = 0;  // the first of these in this part
    std::vector<std::byte> bytes{};
    auto operator<=>(const PeerReadPart&) const noexcept = default;
};

using PeerWord = std::variant<tokens::TokenMessage, PeerReadRequest, PeerReadPart>;

[[nodiscard]] std::vector<std::byte> bytes_of(const PeerWord& word);
// nullopt: it makes no sense.
[[nodiscard]] std::optional<PeerWord> peer_word_of(std::span<const std::byte> bytes);

}  // namespace forebay::protocol
