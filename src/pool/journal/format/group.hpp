// Groups of records: made in memory, and taken apart again. Whatever lies on a device is input.
#pragma once

#include "pool/journal/format/format.hpp"
#include "pool/journal/format/sum.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace forebay::pool::journal {

class GroupWriter {
public:
    // The memory outlives it; a multiple of `group_unit`.
    explicit GroupWriter(std::span<std::byte> memory) noexcept : memory_{memory} {}

    [[nodiscard]] bool fits(std::size_t payload) const noexcept {
        return bytes_ + record_bytes(payload) <= memory_.size();
    }
    // Bytes for the payload, to be filled in. Contract: it fits.
    [[nodiscard]] std::span<std::byte> add(const RecordHeader& record);
    void add(const RecordHeader& record, std::span<const std::byte> payload);

    [[nodiscard]] std::uint32_t records() const noexcept { return records_; }
    // As it will be written.
    [[nodiscard]] std::size_t bytes() const noexcept { return padded(bytes_, group_unit); }
    // The group; it can then be filled anew. Takes from the header what the group itself does not
    // know, and gives its sum back there.
    [[nodiscard]] std::span<const std::byte> seal(GroupHeader& header, const Key& key);
    void clear() noexcept;

private:
    std::span<std::byte> memory_;
    std::size_t bytes_ = sizeof(GroupHeader);
    std::uint32_t records_ = 0;
};

struct Record {
    std::uint64_t at = 0;  // its own number
    RecordHeader header;
    std::span<const std::byte> payload;
};

struct Group {
    GroupHeader header;
    std::vector<Record> records;
};

// The group that begins there; nullopt: none that is whole, and of this journal.
[[nodiscard]] std::optional<Group> group_of(std::span<const std::byte> bytes, const Key& key);

// Those of a segment, wherever they lie: in front of one that is not whole, and behind it.
struct SegmentGroups {
    std::vector<Group> groups;
    bool older_format = false;  // it has groups of format 1
    bool unknown = false;       // … and some that are not whole, or of another journal
};
[[nodiscard]] SegmentGroups groups_of(std::span<const std::byte> segment, const Key& key);

// The bytes look as if they had been to become that group, which they are not: at least two of the
// fields that identify it are there.
[[nodiscard]] bool looks_like(std::span<const std::byte> bytes, const GroupHeader& expected);

// Payloads that are taken apart. nullopt: they make no sense.
struct FileRecord {
    JournalFileFacts facts;
    std::span<const std::byte> path;
};
[[nodiscard]] std::optional<FileRecord> file_of(const Record& record);
[[nodiscard]] std::optional<ports::ChangeStamp> stamp_of(const Record& record);

}  // namespace forebay::pool::journal
