// Keyed sums of groups and heads: without the journal's key nobody can make a group that counts,
// and a group of another journal is none of this one's.
#pragma once

#include "pool/journal/format/format.hpp"

#include <cstddef>
#include <span>

namespace forebay::pool::journal {

using Key = ports::JournalKey;

// Poly1305 of the bytes behind the first `named` ones, by a key that is made of the journal's and
// of these (BLAKE2b): no two messages begin with the same `named` bytes.
[[nodiscard]] KeyedSum sum_of(const Key& key, std::span<const std::byte> message,
                              std::size_t named);

}  // namespace forebay::pool::journal
