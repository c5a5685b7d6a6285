// What the daemons of a job say to each other: registry::Message as bytes of one length. All nodes
// of a job are alike: numbers are as they lie in memory.
#pragma once

#include "registry/token.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::wire {

// One more with each change of what is said.
inline constexpr std::uint32_t peer_format = 2;
inline constexpr std::size_t peer_bytes = 24;
using PeerBytes = std::array<std::byte, peer_bytes>;

[[nodiscard]] PeerBytes bytes_of(const registry::Message& message) noexcept;
// nullopt: it is no message.
[[nodiscard]] std::optional<registry::Message> message_of(
    std::span<const std::byte> bytes) noexcept;

}  // namespace forebay::wire
