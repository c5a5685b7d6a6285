// What a journal looks like: segments of groups of records. A group is what is written and made
// durable at once, so that it is there as a whole or was never acknowledged; its checksum tells.
//
//   segment:  group │ group │ … │ whatever was there before
//   group:    GroupHeader │ record │ record │ … │ zeros, up to a multiple of `group_unit`
//   record:   RecordHeader │ payload │ zeros, up to a multiple of 8
//
// Records are numbered through all groups. A segment that is used again has another epoch: what
// was there before is not taken for its groups. Numbers are as they lie in memory.
#pragma once

#include "ports/stamp.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool::journal {

inline constexpr std::uint64_t magic = 0x316c6e726a796266;  // "fbyjrnl1"
inline constexpr std::size_t group_unit = 4096;
inline constexpr std::size_t record_unit = 8;
inline constexpr std::size_t group_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t path_bytes_max = 4096;

struct GroupHeader {
    std::uint64_t magic = journal::magic;
    std::uint64_t checksum = 0;  // XXH3 of the group's bytes behind it
    std::uint64_t life = 0;      // of the daemon that wrote it: a number by chance
    std::uint64_t epoch = 0;     // of the segment
    std::uint64_t oldest = 0;    // segments of older epochs are not needed any more
    std::uint64_t first = 0;     // number of its first record
    std::int64_t time_ns = 0;    // CLOCK_REALTIME when it was made: the daemon lived
    std::uint32_t records = 0;
    std::uint32_t bytes = 0;  // of all of it
};
static_assert(sizeof(GroupHeader) == 64);

// `number` and payload mean:
enum class Kind : std::uint32_t {
    file = 1,      // what the file is: FileFacts, path
    deposit = 2,   // offset; its bytes from there on
    cut = 3,       // length of the file from now on
    changing = 4,  // the daemon changes it from now on
    settled = 5,   // its records up to this number are in the file, durably. A Stamp: nobody is
                   // changing it any more; else nothing
    life = 6,      // another daemon goes on: those before it change nothing any more (no file)
};

struct RecordHeader {
    Kind kind = Kind::life;
    std::uint32_t length = 0;  // of the payload
    std::uint64_t file = 0;    // number of the record that made it known; 0: none
    std::int64_t number = 0;
};
static_assert(sizeof(RecordHeader) == 24);

struct FileFacts {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t generation = 0;  // of the inode; 0: the file system does not tell
    std::uint64_t stamped = 0;     // 0: the daemon may be changing it
    ports::Stamp stamp;
};
static_assert(sizeof(FileFacts) == 56);

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes, std::size_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}
// What a record takes in a group.
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t payload) noexcept {
    return sizeof(RecordHeader) + padded(payload, record_unit);
}

}  // namespace forebay::pool::journal
