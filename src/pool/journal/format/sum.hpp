// Checksums with a key (MACs) for groups and heads. Without the journal's key nobody can forge a
// group, and a group of another journal is not valid in this one.
#pragma once

#include "pool/journal/format/format.hpp"

#include <cstddef>
#include <span>

namespace forebay::pool::journal {

using Key = ports::JournalKey;

// Poly1305 over the bytes after the first `named`, with a key that BLAKE2b derives from the
// journal's key and those first bytes. They serve as the nonce: Contract: no two different messages
// begin with the same `named` bytes.
[[nodiscard]] KeyedSum sum_of(const Key& key, std::span<const std::byte> message,
                              std::size_t named);

}  // namespace forebay::pool::journal
