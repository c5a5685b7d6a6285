// The head of a journal, as it is written and read. It is written in turns to two places: what is
// torn while it is written leaves the one before it.
#pragma once

#include "pool/journal/format/sum.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace forebay::pool::journal {

// Fills a place of `head_unit` bytes.
void seal_head(JournalHead head, const Key& key, std::span<std::byte> to);
// Where in the head this one lies.
[[nodiscard]] constexpr std::size_t place_of(const JournalHead& head) noexcept {
    return head.count % 2 * head_unit;
}

struct JournalHeads {
    std::optional<JournalHead> newest;
    bool damaged = false;  // one of the two was written, and is not whole (any more)
};
[[nodiscard]] JournalHeads heads_of(std::span<const std::byte> bytes, const Key& key);

}  // namespace forebay::pool::journal
