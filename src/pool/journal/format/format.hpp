// The on-disk format of a journal (a write-ahead log): segments that contain groups of records, and
// a head. A group is written and made durable as a whole. If a power failure tears it, nothing in
// it was acknowledged, and its checksum is wrong.
//
//   segment:  group │ group │ … │ whatever an earlier use has left
//   group:    GroupHeader │ record │ record │ … │ zeros, up to a multiple of `group_unit`
//   record:   RecordHeader │ payload │ zeros, up to a multiple of 8
//   head:     JournalHead │ zeros │ JournalHead │ zeros, each `head_unit`; written alternately
//
// Groups are numbered through all segments, and each contains the checksum of the one before it. A
// group is only written when the one before it is durable; so a valid group proves that all earlier
// ones were durable. The head names the last group that is known to be durable, and thereby shows
// when groups at the end are missing (docs/decisions/0038-a-chain-of-groups-and-its-head.md).
// Records are numbered through all groups. A segment gets a new epoch each time that it is used, so
// that groups of an earlier use are not mistaken for new ones. Numbers have the byte order of the
// machine.
#pragma once

#include "foundation/ports/journal_device.hpp"
#include "foundation/ports/stamp.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool::journal {

inline constexpr std::uint64_t magic = 0x326c6e726a796266;         // "fbyjrnl2"
inline constexpr std::uint64_t magic_before = 0x316c6e726a796266;  // as in format 1
inline constexpr std::uint64_t head_magic = 0x3264616568796266;    // "fbyhead2"
inline constexpr std::size_t group_unit = 4096;
inline constexpr std::size_t head_unit = 4096;
inline constexpr std::size_t record_unit = 8;
inline constexpr std::size_t group_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t path_bytes_max = 4096;
static_assert(2 * head_unit == ports::JournalDevice::head_bytes);

// A keyed checksum (MAC): nobody can compute it without the journal's key (sum.hpp).
struct KeyedSum {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool operator==(const KeyedSum&) const = default;
};

struct GroupHeader {
    std::uint64_t magic = journal::magic;
    KeyedSum sum{};  // of the group's bytes that follow this field
    // One more than that of the previous group, in whatever segment that is.
    std::uint64_t number = 0;
    KeyedSum before{};         // checksum of the previous group
    std::uint64_t life = 0;    // a random number of the daemon that wrote it
    std::uint64_t epoch = 0;   // of the segment
    std::uint64_t at = 0;      // the group's offset in its segment
    std::uint64_t oldest = 0;  // segments of older epochs are not needed any more
    std::uint64_t first = 0;   // number of the group's first record
    std::int64_t time_ns = 0;  // CLOCK_REALTIME when it was made; the daemon was alive then
    std::uint32_t records = 0;
    std::uint32_t bytes = 0;  // size of the whole group
};
static_assert(sizeof(GroupHeader) == 104);

struct JournalHead {
    static constexpr std::uint64_t no_segment = ports::JournalDevice::head;

    std::uint64_t magic = head_magic;
    KeyedSum sum{};            // of the bytes that follow this field
    std::uint64_t count = 0;   // how many heads have been written; this one is in place `count % 2`
    std::uint64_t group = 0;   // this group and all before it are durable; 0: none is
    KeyedSum last{};           // checksum of that group
    std::uint64_t record = 1;  // records with smaller numbers are in durable groups
    std::uint64_t epoch = 0;   // the newest epoch that may have been begun …
    std::uint64_t segment = no_segment;  // … and its segment
    // Groups up to this number are not needed any more, nor are their segments.
    std::uint64_t unneeded = 0;
};
static_assert(sizeof(JournalHead) == 88);

// The meaning of a record's `number`, and of its payload.
enum class RecordKind : std::uint32_t {
    file = 1,      // describes a file; payload: JournalFileFacts, path
    deposit = 2,   // number: offset; payload: the bytes that were written there
    cut = 3,       // the file was truncated; number: its new length
    changing = 4,  // from now on the daemon may be changing the file on the file system
    // The file has everything of its records up to `number`, durably. Payload: a ChangeStamp, if
    // the daemon is not changing the file any more; else none.
    settled = 5,
    // Another daemon takes over: those before it change files no longer. About no file.
    life = 6,
};

struct RecordHeader {
    RecordKind kind = RecordKind::life;
    std::uint32_t length = 0;  // of the payload, in bytes
    std::uint64_t file = 0;    // number of the record that describes the file; 0: none
    std::int64_t number = 0;
};
static_assert(sizeof(RecordHeader) == 24);

struct JournalFileFacts {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t generation = 0;  // generation of the inode; 0: the file system has none
    // 0: `stamp` is not valid, since the daemon may be changing the file
    std::uint64_t stamped = 0;
    ports::ChangeStamp stamp;
};
static_assert(sizeof(JournalFileFacts) == 56);

// `bytes` rounded up to a multiple of `unit`.
[[nodiscard]] constexpr std::size_t padded(std::size_t bytes, std::size_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}
// The bytes that a record with this payload takes in a group.
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t payload) noexcept {
    return sizeof(RecordHeader) + padded(payload, record_unit);
}

}  // namespace forebay::pool::journal
