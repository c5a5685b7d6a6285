// Writes and parses the journal's head. A head that is parsed is untrusted input.
#include "pool/journal/format/head.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace forebay::pool::journal {

namespace {

constexpr std::size_t head_summed_from = offsetof(JournalHead, count);

// The whole head is its nonce: two different heads never have the same `count`.
KeyedSum sum_of_head(const JournalHead& head, const Key& key) {
    std::array<std::byte, sizeof(JournalHead)> bytes{};
    std::memcpy(bytes.data(), &head, sizeof head);
    return sum_of(key, std::span{bytes}.subspan(head_summed_from),
                  sizeof(JournalHead) - head_summed_from);
}

std::optional<JournalHead> head_at(std::span<const std::byte> bytes, std::size_t place,
                                   const Key& key) {
    JournalHead head;
    std::memcpy(&head, bytes.data() + place, sizeof head);
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2;
    if (head.magic != head_magic || sum_of_head(head, key) != head.sum || place_of(head) != place ||
        head.count > most || head.group > most || head.record > most || head.epoch > most) {
        return std::nullopt;
    }
    return head;
}

bool is_blank(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte one) { return one == std::byte{0}; });
}

}  // namespace

void seal_head(JournalHead head, const Key& key, std::span<std::byte> to) {
    expects(to.size() == head_unit, "a place for one head");
    head.sum = sum_of_head(head, key);
    std::ranges::fill(to, std::byte{0});
    std::memcpy(to.data(), &head, sizeof head);
}

JournalHeads heads_of(std::span<const std::byte> bytes, const Key& key) {
    JournalHeads heads;
    if (bytes.size() != 2 * head_unit) {
        return heads;  // the journal was just being made
    }
    for (std::size_t place = 0; place + head_unit <= bytes.size(); place += head_unit) {
        const auto head = head_at(bytes, place, key);
        if (head && (!heads.newest || head->count > heads.newest->count)) {
            heads.newest = head;
        }
        heads.damaged = heads.damaged || (!head && !is_blank(bytes.subspan(place, head_unit)));
    }
    return heads;
}

}  // namespace forebay::pool::journal
