// Serialises messages and parses them. What is parsed is untrusted input: every field is checked.
#include "pool/cluster/transport/peer_messages.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/protocol/limits.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace forebay::protocol {

namespace {

using tokens::Token;
using tokens::TokenMessage;

constexpr std::uint16_t wanted_kind = 64;  // kinds of token messages are smaller numbers
constexpr std::uint16_t part_kind = 65;
constexpr std::uint16_t offer_kind = 66;
constexpr std::uint16_t reply_kind = 67;
constexpr std::uint16_t handed_kind = 68;

struct PeerMessageHeader {
    std::uint32_t format = peer_format;
    std::uint16_t kind = 0;
    std::uint16_t token = 0;  // of a token message; in a part: 1 if refused; in a reply: its kind
};

struct PackedMessage {
    PeerMessageHeader head;
    std::uint64_t inode = 0;
    std::uint64_t number = 0;
    std::uint64_t grant = 0;
    std::uint64_t parent = 0;
    std::uint64_t parents_grant = 0;
};
static_assert(sizeof(PackedMessage) == 48);

struct PackedWanted {
    PeerMessageHeader head;
    std::uint64_t inode = 0;
    std::uint64_t grant = 0;
    std::uint64_t number = 0;
    std::int64_t at = 0;
    std::uint64_t bytes = 0;
    std::int64_t file_bytes = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
};
static_assert(sizeof(PackedWanted) == 72);

struct PackedPart {  // followed by its bytes; also for those that are handed over
    PeerMessageHeader head;
    std::uint64_t number = 0;
    std::uint32_t whole = 0;
    std::uint32_t begin = 0;
};
static_assert(sizeof(PackedPart) == 24);
static_assert(sizeof(PackedPart) + part_bytes_max <= peer_bytes_max);

struct PackedOffer {  // followed by its ranges, and the path
    PeerMessageHeader head;
    std::uint64_t number = 0;
    HandedFile file;
    std::uint32_t path_bytes = 0;
    std::uint32_t ranges = 0;
};
static_assert(sizeof(PackedOffer) == 64 && sizeof(HandedRange) == 16);
static_assert(sizeof(PackedOffer) + offer_ranges_max * sizeof(HandedRange) + offer_path_max <=
              peer_bytes_max);

struct PackedReply {
    PeerMessageHeader head;
    std::uint64_t number = 0;
    std::uint32_t bytes = 0;
    std::int32_t error = 0;
};
static_assert(sizeof(PackedReply) == 24);

template <class Packed>
std::vector<std::byte> as_bytes(const Packed& packed, std::span<const std::byte> more = {}) {
    std::vector<std::byte> bytes(sizeof packed + more.size());
    std::memcpy(bytes.data(), &packed, sizeof packed);
    if (!more.empty()) {
        std::memcpy(bytes.data() + sizeof packed, more.data(), more.size());
    }
    return bytes;
}

std::vector<std::byte> packed(const TokenMessage& message) {
    expects(message.kind >= TokenMessage::Kind::ask && message.kind <= TokenMessage::Kind::farewell,
            "a message is of a kind that the others know");
    return as_bytes(PackedMessage{.head = {.kind = static_cast<std::uint16_t>(message.kind),
                                           .token = static_cast<std::uint16_t>(message.token)},
                                  .inode = message.file.inode,
                                  .number = message.number,
                                  .grant = message.grant,
                                  .parent = message.parent.node,
                                  .parents_grant = message.parent.grant});
}

std::vector<std::byte> packed(const PeerReadRequest& wanted) {
    return as_bytes(PackedWanted{.head = {.kind = wanted_kind},
                                 .inode = wanted.file.inode,
                                 .grant = wanted.grant,
                                 .number = wanted.number,
                                 .at = wanted.at,
                                 .bytes = wanted.bytes,
                                 .file_bytes = wanted.file_bytes,
                                 .modified_ns = wanted.modified_ns,
                                 .changed_ns = wanted.changed_ns});
}

std::vector<std::byte> packed(const PeerReadPart& part) {
    expects(part.bytes.size() <= part_bytes_max, "a part is as short as the others expect");
    return as_bytes(PackedPart{.head = {.kind = part_kind,
                                        .token = static_cast<std::uint16_t>(part.refused ? 1 : 0)},
                               .number = part.number,
                               .whole = part.whole,
                               .begin = part.begin},
                    part.bytes);
}

std::vector<std::byte> packed(const HandoverOffer& offer) {
    expects(!offer.path.empty() && offer.path.size() <= offer_path_max && !offer.ranges.empty() &&
                offer.ranges.size() <= offer_ranges_max,
            "an offer is as long as the others expect");
    std::vector<std::byte> bytes =
        as_bytes(PackedOffer{.head = {.kind = offer_kind},
                             .number = offer.number,
                             .file = offer.file,
                             .path_bytes = static_cast<std::uint32_t>(offer.path.size()),
                             .ranges = static_cast<std::uint32_t>(offer.ranges.size())},
                 std::as_bytes(std::span{offer.ranges}));
    const auto path = std::as_bytes(std::span{offer.path});
    bytes.insert(bytes.end(), path.begin(), path.end());
    return bytes;
}

std::vector<std::byte> packed(const HandoverReply& reply) {
    return as_bytes(
        PackedReply{.head = {.kind = reply_kind, .token = static_cast<std::uint16_t>(reply.kind)},
                    .number = reply.number,
                    .bytes = reply.bytes,
                    .error = reply.error});
}

std::vector<std::byte> packed(const HandoverPart& part) {
    expects(part.bytes.size() <= part_bytes_max, "a part is as short as the others expect");
    return as_bytes(PackedPart{.head = {.kind = handed_kind},
                               .number = part.number,
                               .whole = part.whole,
                               .begin = part.begin},
                    part.bytes);
}

// nullopt: there are not as many bytes as the struct has.
template <class Packed>
std::optional<Packed> unpacked(std::span<const std::byte> bytes) {
    Packed packed;
    if (bytes.size() != sizeof packed) {
        return std::nullopt;
    }
    std::memcpy(&packed, bytes.data(), sizeof packed);
    return packed;
}

std::optional<PeerWord> message_of(std::span<const std::byte> bytes) {
    const auto packed = unpacked<PackedMessage>(bytes);
    const bool known =
        packed && packed->head.kind >= static_cast<std::uint16_t>(TokenMessage::Kind::ask) &&
        packed->head.kind <= static_cast<std::uint16_t>(TokenMessage::Kind::farewell) &&
        packed->head.token <= static_cast<std::uint16_t>(Token::settled) &&
        packed->parent <= UINT32_MAX;
    if (!known) {
        return std::nullopt;
    }
    return TokenMessage{
        .kind = static_cast<TokenMessage::Kind>(packed->head.kind),
        .token = static_cast<Token>(packed->head.token),
        .file = {packed->inode},
        .number = packed->number,
        .grant = packed->grant,
        .parent = {static_cast<tokens::Node>(packed->parent), packed->parents_grant}};
}

std::optional<PeerWord> wanted_of(std::span<const std::byte> bytes) {
    constexpr auto block = static_cast<std::int64_t>(pool::block_bytes);
    const auto packed = unpacked<PackedWanted>(bytes);
    if (!packed || packed->head.token != 0 || packed->at < 0 || packed->bytes == 0 ||
        packed->bytes > pool::block_bytes - static_cast<std::uint64_t>(packed->at % block) ||
        packed->at > INT64_MAX - static_cast<std::int64_t>(packed->bytes)) {
        return std::nullopt;
    }
    return PeerReadRequest{.file = {packed->inode},
                           .grant = packed->grant,
                           .number = packed->number,
                           .at = packed->at,
                           .bytes = static_cast<std::uint32_t>(packed->bytes),
                           .file_bytes = packed->file_bytes,
                           .modified_ns = packed->modified_ns,
                           .changed_ns = packed->changed_ns};
}

std::optional<PeerWord> part_of(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(PackedPart)) {
        return std::nullopt;
    }
    const auto packed = unpacked<PackedPart>(bytes.first(sizeof(PackedPart)));
    const std::span<const std::byte> rest = bytes.subspan(sizeof(PackedPart));
    const bool refused = packed->head.token == 1;
    const bool fits = refused ? packed->whole == 0 && packed->begin == 0 && rest.empty()
                              : packed->head.token == 0 && packed->whole <= pool::block_bytes &&
                                    packed->begin <= packed->whole &&
                                    rest.size() <= packed->whole - packed->begin &&
                                    rest.size() <= part_bytes_max;
    if (!fits) {
        return std::nullopt;
    }
    return PeerReadPart{.number = packed->number,
                        .refused = refused,
                        .whole = packed->whole,
                        .begin = packed->begin,
                        .bytes = {rest.begin(), rest.end()}};
}

// Ranges ascend, do not overlap, and have no more bytes than an offer may have.
bool are_valid(std::span<const HandedRange> ranges) {
    std::int64_t end = 0;
    std::uint64_t total = 0;
    for (const HandedRange& range : ranges) {
        if (range.at < end || range.bytes == 0 || range.bytes > offer_bytes_max - total ||
            range.at > INT64_MAX - static_cast<std::int64_t>(range.bytes)) {
            return false;
        }
        total += range.bytes;
        end = range.at + static_cast<std::int64_t>(range.bytes);
    }
    return total > 0;
}

std::optional<PeerWord> offer_of(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(PackedOffer)) {
        return std::nullopt;
    }
    const auto packed = unpacked<PackedOffer>(bytes.first(sizeof(PackedOffer)));
    const std::span<const std::byte> rest = bytes.subspan(sizeof(PackedOffer));
    if (packed->head.token != 0 || packed->ranges > offer_ranges_max || packed->path_bytes == 0 ||
        packed->path_bytes > offer_path_max ||
        rest.size() != packed->ranges * sizeof(HandedRange) + packed->path_bytes) {
        return std::nullopt;
    }
    HandoverOffer offer{.number = packed->number, .file = packed->file};
    offer.ranges.resize(packed->ranges);
    const auto ranges = std::as_writable_bytes(std::span{offer.ranges});
    std::ranges::copy(rest.first(ranges.size()), ranges.begin());
    offer.path.resize(packed->path_bytes);
    std::ranges::copy(rest.subspan(ranges.size()),
                      std::as_writable_bytes(std::span{offer.path}).begin());
    const bool is_path = offer.path.front() == '/' && offer.path.find('\0') == std::string::npos;
    return is_path && are_valid(offer.ranges) ? std::optional<PeerWord>{std::move(offer)}
                                              : std::nullopt;
}

std::optional<PeerWord> reply_of(std::span<const std::byte> bytes) {
    const auto packed = unpacked<PackedReply>(bytes);
    if (!packed ||
        packed->head.token > static_cast<std::uint16_t>(HandoverReply::Kind::withdrawn)) {
        return std::nullopt;
    }
    const auto kind = static_cast<HandoverReply::Kind>(packed->head.token);
    const bool fits = kind == HandoverReply::Kind::written
                          ? packed->bytes <= offer_bytes_max && packed->error >= 0
                          : packed->bytes == 0 && packed->error == 0;
    if (!fits) {
        return std::nullopt;
    }
    return HandoverReply{
        .kind = kind, .number = packed->number, .bytes = packed->bytes, .error = packed->error};
}

std::optional<PeerWord> handed_of(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(PackedPart)) {
        return std::nullopt;
    }
    const auto packed = unpacked<PackedPart>(bytes.first(sizeof(PackedPart)));
    const std::span<const std::byte> rest = bytes.subspan(sizeof(PackedPart));
    const bool fits = packed->head.token == 0 && packed->whole <= offer_bytes_max &&
                      packed->begin < packed->whole && !rest.empty() &&
                      rest.size() <= packed->whole - packed->begin && rest.size() <= part_bytes_max;
    if (!fits) {
        return std::nullopt;
    }
    return HandoverPart{.number = packed->number,
                        .whole = packed->whole,
                        .begin = packed->begin,
                        .bytes = {rest.begin(), rest.end()}};
}

}  // namespace

std::vector<std::byte> bytes_of(const PeerWord& word) {
    return std::visit([](const auto& one) { return packed(one); }, word);
}

std::optional<PeerWord> peer_word_of(std::span<const std::byte> bytes) {
    PeerMessageHeader head;
    if (bytes.size() < sizeof head) {
        return std::nullopt;
    }
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.format != peer_format) {
        return std::nullopt;
    }
    switch (head.kind) {
        case wanted_kind: return wanted_of(bytes);
        case part_kind: return part_of(bytes);
        case offer_kind: return offer_of(bytes);
        case reply_kind: return reply_of(bytes);
        case handed_kind: return handed_of(bytes);
        default: return message_of(bytes);
    }
}

}  // namespace forebay::protocol
