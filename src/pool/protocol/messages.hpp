// The messages between a process and the daemon of its node, over a socket that keeps messages
// apart (SOCK_SEQPACKET). Every question has one reply, in order. Both sides are on one machine:
// numbers are as they lie in memory. QuestionKind, ClientQuestion and DaemonReply, which question
// carries what, and which flags it has: schema/pool_messages.toml, from which the included header
// is made. Needs nothing of the C++ library at run time.
#pragma once

#include "pool/protocol/limits.hpp"
#include "pool_protocol/messages.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace forebay::protocol {

// The question that came over the socket; nullopt: it is none (wrong size or format, unknown, a
// slot or a client beyond the bounds, a negative number where none may be, a path without an end).
[[nodiscard]] std::optional<ClientQuestion> question_of(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] std::optional<DaemonReply> reply_of(std::span<const std::byte> bytes) noexcept;

}  // namespace forebay::protocol
