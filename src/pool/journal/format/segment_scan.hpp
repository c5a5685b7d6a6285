// Finds out which segments of a directory form the journal, in which order, and whether everything
// that was once durable is still there. Pure.
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
    bool is_whole = true;  // has the full length that segments get before they are used
};

// Why a journal must not be replayed: something that was durable is not there (any more).
enum class DamageKind {
    none,
    older_format,  // not damaged, but written by an older version of Forebay
    head,          // there are groups, but no valid head
    lost,          // groups are missing
    twice,         // a group exists twice
    mixed,         // groups contradict each other: they are from different times or journals
};

struct SegmentScan {
    std::vector<Group> groups;            // in order, without those that are not needed any more
    std::vector<std::uint32_t> segments;  // in which these groups are
    DamageKind damage = DamageKind::none;
    // At the end are remains of a group. Either it was being written, and nothing in it was
    // acknowledged, or it was damaged before a head named it.
    bool unfinished = false;
    // One of the two heads is not valid: it was being written, or it was damaged.
    bool head_damaged = false;

    // For the next writer: the first numbers that were never used.
    std::uint64_t next_record = 1;
    std::uint64_t next_epoch = 1;
    std::uint64_t next_group = 1;
    KeyedSum last;               // checksum of the group before next_group
    std::uint64_t heads = 0;     // how many heads have been written
    std::uint64_t unneeded = 0;  // see JournalHead
};

// `head` is empty where there is no such file.
[[nodiscard]] SegmentScan scan_segments(std::span<const SegmentBytes> segments,
                                        std::span<const std::byte> head, const Key& key);

}  // namespace forebay::pool::journal
