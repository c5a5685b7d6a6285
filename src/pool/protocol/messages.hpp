// The messages between a process and the daemon of its node, over a Unix socket of type
// SOCK_SEQPACKET. Each question gets one reply, in order. Both sides are on one machine, so numbers
// are in its byte order. schema/pool_messages.toml defines QuestionKind, ClientQuestion,
// DaemonReply, the fields and flags of each question; the included header is generated from it.
// This code is loaded into programs, and so needs nothing of the C++ library at run time.
#pragma once

#include "pool/protocol/limits.hpp"
#include "pool_protocol/messages.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace forebay::protocol {

// The valid question in `bytes`, which are untrusted input. nullopt: the size or format is wrong,
// the kind is unknown, a slot or client is out of range, a number is negative, the reason to leave
// is one that clients do not have, a path is not terminated, or a log that has to be named is not.
[[nodiscard]] std::optional<ClientQuestion> question_of(std::span<const std::byte> bytes) noexcept;
// The valid reply in `bytes`; nullopt: size, format, kind, client or slot is wrong.
[[nodiscard]] std::optional<DaemonReply> reply_of(std::span<const std::byte> bytes) noexcept;

}  // namespace forebay::protocol
