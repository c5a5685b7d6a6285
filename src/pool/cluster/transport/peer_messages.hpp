// The messages between the daemons of a job: tokens::TokenMessage, and those by which few nodes
// read for all (pool/cluster/peer_reads/peer_read_server.hpp). Numbers have the byte order of the
// machine, as all nodes of a job are alike.
#pragma once

#include "pool/cluster/tokens/token.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace forebay::protocol {

// Increased with each change of the messages, so that daemons of different versions refuse each
// other.
inline constexpr std::uint32_t peer_format = 3;
// Maximum of bytes of a file in one part.
inline constexpr std::uint32_t part_bytes_max = std::uint32_t{64} << 10;
// The longest message.
inline constexpr std::size_t peer_bytes_max = 128 + part_bytes_max;

// A request to the parent for bytes of a file.
struct PeerReadRequest {
    tokens::FileKey file{};
    std::uint64_t grant = 0;   // see tokens::Parent
    std::uint64_t number = 0;  // repeated in the answer
    std::int64_t at = 0;
    std::uint32_t bytes = 0;  // all in one block of the read cache
    // Length and times of the file when it was opened, since another file may have the same inode
    // number.
    std::int64_t file_bytes = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    auto operator<=>(const PeerReadRequest&) const noexcept = default;
};

// A part of the answer; parts come in order.
struct PeerReadPart {
    std::uint64_t number = 0;
    bool refused = false;  // there are no bytes: the requesting node reads the file itself
    // Length of the whole answer; shorter than requested at the end of the file.
    std::uint32_t whole = 0;
    std::uint32_t begin = 0;  // where this part begins in the answer
    std::vector<std::byte> bytes{};
    auto operator<=>(const PeerReadPart&) const noexcept = default;
};

using PeerWord = std::variant<tokens::TokenMessage, PeerReadRequest, PeerReadPart>;

[[nodiscard]] std::vector<std::byte> bytes_of(const PeerWord& word);
// nullopt: the bytes are not a valid message.
[[nodiscard]] std::optional<PeerWord> peer_word_of(std::span<const std::byte> bytes);

}  // namespace forebay::protocol
