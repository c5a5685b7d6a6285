// Which segments of a folder are the journal, and in which order; and whether all that was durable
// is there.
#pragma once

#include "pool/journal/format/group.hpp"
#include "pool/journal/format/head.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::pool::journal {

struct SegmentBytes {
    std::uint32_t number = 0;
    std::span<const std::byte> bytes;
    bool is_whole = true;  // as long as a segment is before it is used
};

// Something was durable, and is not there (any more).
enum class DamageKind {
    none,
    older_format,  // no damage: another version of Forebay has written it
    head,          // there are groups, and no head
    lost,          // groups are missing
    twice,         // one is there twice
    mixed,         // groups that do not belong together
};

struct SegmentScan {
    std::vector<Group> groups;            // in order; what is not needed any more is left out
    std::vector<std::uint32_t> segments;  // that they lie in
    DamageKind damage = DamageKind::none;
    // It ends with a group that is not whole: it was being written, and nothing of it acknowledged,
    // or it was damaged before the head knew of it.
    bool unfinished = false;
    // One of the two heads is not whole: it was being written, or is damaged.
    bool head_damaged = false;

    // How it goes on: numbers that were never used, from here on.
    std::uint64_t next_record = 1;
    std::uint64_t next_epoch = 1;
    std::uint64_t next_group = 1;
    KeyedSum last;  // of the group before that
    std::uint64_t heads = 0;
    std::uint64_t unneeded = 0;  // see JournalHead
};

// `head`: none where there is no file of it.
[[nodiscard]] SegmentScan chain_of(std::span<const SegmentBytes> segments,
                                   std::span<const std::byte> head, const Key& key);

}  // namespace forebay::pool::journal
