// The layout of a journal: segments of groups of records, and a head. A group is written and made
// durable at once, so that it is there as a whole or was never acknowledged; its sum tells.
//
//   segment:  group │ group │ … │ whatever was there before
//   group:    GroupHeader │ record │ record │ … │ zeros, up to a multiple of `group_unit`
//   record:   RecordHeader │ payload │ zeros, up to a multiple of 8
//   head:     Head │ zeros │ Head │ zeros, each up to `head_unit`; written in turns
//
// Groups are numbered, and each names the sum of the one before it: a group proves that all those
// before it were durable, since it is written behind them. The head says which one was the last
// (docs/decisions/0038-a-chain-of-groups-and-its-head.md). Records are numbered through all groups.
// A segment that is used again has another epoch: older groups there are not taken for its own.
// Numbers are as they lie in memory.
#pragma once

#include "foundation/ports/journal_device.hpp"
#include "foundation/ports/stamp.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool::journal {

inline constexpr std::uint64_t magic = 0x326c6e726a796266;         // "fbyjrnl2"
inline constexpr std::uint64_t magic_before = 0x316c6e726a796266;  // for format 1
inline constexpr std::uint64_t head_magic = 0x3264616568796266;    // "fbyhead2"
inline constexpr std::size_t group_unit = 4096;
inline constexpr std::size_t head_unit = 4096;
inline constexpr std::size_t record_unit = 8;
inline constexpr std::size_t group_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t path_bytes_max = 4096;
static_assert(2 * head_unit == ports::JournalDevice::head_bytes);

// A keyed sum: nobody can make one without the journal's key (sum.hpp).
struct KeyedSum {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool operator==(const KeyedSum&) const = default;
};

struct GroupHeader {
    std::uint64_t magic = journal::magic;
    KeyedSum sum{};            // of the group's bytes behind it
    std::uint64_t number = 0;  // one more than that of the group before it, in whatever segment
    KeyedSum before{};         // of that group
    std::uint64_t life = 0;    // the writing daemon's: a random number
    std::uint64_t epoch = 0;   // of the segment
    std::uint64_t at = 0;      // where in the segment it begins
    std::uint64_t oldest = 0;  // segments of older epochs are not needed any more
    std::uint64_t first = 0;   // number of its first record
    std::int64_t time_ns = 0;  // CLOCK_REALTIME when it was made: the daemon lived
    std::uint32_t records = 0;
    std::uint32_t bytes = 0;  // the whole group's
};
static_assert(sizeof(GroupHeader) == 104);

struct JournalHead {
    static constexpr std::uint64_t no_segment = ports::JournalDevice::head;

    std::uint64_t magic = head_magic;
    KeyedSum sum{};            // of the bytes behind it
    std::uint64_t count = 0;   // heads written so far; its place is that of count % 2
    std::uint64_t group = 0;   // this one was durable, and all before it. 0: none was written yet
    KeyedSum last{};           // of that group
    std::uint64_t record = 1;  // records below are in these groups
    std::uint64_t epoch = 0;   // the newest that may have been begun …
    std::uint64_t segment = no_segment;  // … and where
    std::uint64_t unneeded = 0;          // groups up to this number are not, nor their segments
};
static_assert(sizeof(JournalHead) == 88);

// `number` and payload mean:
enum class RecordKind : std::uint32_t {
    file = 1,      // what the file is: JournalFileFacts, path
    deposit = 2,   // offset; its bytes from there on
    cut = 3,       // length of the file from now on
    changing = 4,  // the daemon changes it from now on
    settled = 5,   // its records up to this number are in the file, durably. A ChangeStamp: nobody
                   // is changing it any more; else nothing
    life = 6,      // another daemon goes on: those before it change nothing any more (no file)
};

struct RecordHeader {
    RecordKind kind = RecordKind::life;
    std::uint32_t length = 0;  // of the payload
    std::uint64_t file = 0;    // number of the record that made it known; 0: none
    std::int64_t number = 0;
};
static_assert(sizeof(RecordHeader) == 24);

struct JournalFileFacts {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t generation = 0;  // of the inode; 0: the file system does not tell
    std::uint64_t stamped = 0;     // 0: the daemon may be changing it
    ports::ChangeStamp stamp;
};
static_assert(sizeof(JournalFileFacts) == 56);

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes, std::size_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}
// The bytes that a record takes in a group.
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t payload) noexcept {
    return sizeof(RecordHeader) + padded(payload, record_unit);
}

}  // namespace forebay::pool::journal
