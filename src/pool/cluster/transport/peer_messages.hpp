// The messages between the daemons of a job: tokens::TokenMessage, those by which few nodes read
// for all (pool/cluster/peer_reads/peer_read_server.hpp), and those by which few nodes write for
// all (pool/cluster/handover/handover_server.hpp). Numbers have the byte order of the machine, as
// all nodes of a job are alike.
#pragma once

#include "pool/cluster/tokens/token.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace forebay::protocol {

// Increased with each change of the messages, so that daemons of different versions refuse each
// other.
inline constexpr std::uint32_t peer_format = 4;
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

// Maximum of bytes, of ranges, and of characters of the path in one offer.
inline constexpr std::uint32_t offer_bytes_max = std::uint32_t{8} << 20;
inline constexpr std::size_t offer_ranges_max = 512;
inline constexpr std::size_t offer_path_max = 4095;

// Tells a file from others, on whatever node it is looked at. 0: the file system does not tell.
struct HandedFile {
    std::uint64_t inode = 0;
    std::uint64_t system_type = 0;  // f_type and f_fsid of its file system
    std::uint64_t system_id = 0;
    std::int64_t birth_ns = 0;     // when it was made, CLOCK_REALTIME
    std::uint64_t generation = 0;  // of the inode
    auto operator<=>(const HandedFile&) const noexcept = default;
};

struct HandedRange {
    std::int64_t at = 0;
    std::uint64_t bytes = 0;
    auto operator<=>(const HandedRange&) const noexcept = default;
};

// Offers bytes of a file to the node that writes for this one. Ranges ascend and do not overlap.
struct HandoverOffer {
    std::uint64_t number = 0;  // repeated in all that is said of the offer
    HandedFile file{};
    std::string path{};  // absolute, by which the other node opens the file
    std::vector<HandedRange> ranges{};
    auto operator<=>(const HandoverOffer&) const noexcept = default;
};

// The state of an offer. Only `withdrawn` is said by the node that made the offer.
struct HandoverReply {
    enum class Kind : std::uint8_t {
        accepted,    // there is memory: the bytes may be sent
        refused,     // not now: the node that offers them writes them itself
        wrong_file,  // nor ever: the file cannot be opened there, or is another one
        written,     // the first `bytes` bytes are in the file, durably; `error` stopped the rest
        withdrawn,   // the bytes will not be sent
    };
    Kind kind = Kind::refused;
    std::uint64_t number = 0;
    std::uint32_t bytes = 0;
    std::int32_t error = 0;  // errno; 0: all bytes are written
    auto operator<=>(const HandoverReply&) const noexcept = default;
};

// A part of the bytes of an offer, its ranges one behind the other; parts come in order.
struct HandoverPart {
    std::uint64_t number = 0;
    std::uint32_t whole = 0;  // bytes of the offer
    std::uint32_t begin = 0;
    std::vector<std::byte> bytes{};
    auto operator<=>(const HandoverPart&) const noexcept = default;
};

using PeerWord = std::variant<tokens::TokenMessage, PeerReadRequest, PeerReadPart, HandoverOffer,
                              HandoverReply, HandoverPart>;

[[nodiscard]] std::vector<std::byte> bytes_of(const PeerWord& word);
// nullopt: the bytes are not a valid message.
[[nodiscard]] std::optional<PeerWord> peer_word_of(std::span<const std::byte> bytes);

}  // namespace forebay::protocol
