// Writes and reads the head of a journal. Its two places are written alternately: if a power
// failure tears one, the other still has the previous head.
#pragma once

#include "pool/journal/format/sum.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace forebay::pool::journal {

// Fills `to`, `head_unit` bytes, with the head and its checksum.
void seal_head(JournalHead head, const Key& key, std::span<std::byte> to);
// The offset at which this head is written.
[[nodiscard]] constexpr std::size_t place_of(const JournalHead& head) noexcept {
    return head.count % 2 * head_unit;
}

struct JournalHeads {
    std::optional<JournalHead> newest;
    // A place is neither blank nor a valid head: it was torn, or damaged later.
    bool damaged = false;
};
[[nodiscard]] JournalHeads heads_of(std::span<const std::byte> bytes, const Key& key);

}  // namespace forebay::pool::journal
