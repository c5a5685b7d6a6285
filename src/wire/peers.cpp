#include "wire/peers.hpp"

#include <cstring>

namespace forebay::wire {

namespace {

using registry::Message;
using registry::Token;

struct Packed {
    std::uint32_t format = peer_format;
    std::uint16_t kind = 0;
    std::uint16_t token = 0;
    std::uint64_t inode = 0;
    std::uint64_t number = 0;
};
static_assert(sizeof(Packed) == peer_bytes);

}  // namespace

PeerBytes bytes_of(const Message& message) noexcept {
    const Packed packed{.kind = static_cast<std::uint16_t>(message.kind),
                        .token = static_cast<std::uint16_t>(message.token),
                        .inode = message.file.inode,
                        .number = message.number};
    PeerBytes bytes{};
    std::memcpy(bytes.data(), &packed, sizeof packed);
    return bytes;
}

std::optional<Message> message_of(std::span<const std::byte> bytes) noexcept {
    Packed packed;
    if (bytes.size() != sizeof packed) {
        return std::nullopt;
    }
    std::memcpy(&packed, bytes.data(), sizeof packed);
    const bool known = packed.kind >= static_cast<std::uint16_t>(Message::Kind::ask) &&
                       packed.kind <= static_cast<std::uint16_t>(Message::Kind::farewell) &&
                       packed.token <= static_cast<std::uint16_t>(Token::settled);
    if (packed.format != peer_format || !known) {
        return std::nullopt;
    }
    return Message{.kind = static_cast<Message::Kind>(packed.kind),
                   .token = static_cast<Token>(packed.token),
                   .file = {packed.inode},
                   .number = packed.number};
}

}  // namespace forebay::wire
