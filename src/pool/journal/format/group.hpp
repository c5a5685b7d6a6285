// Groups of records: put together in memory before they are written, and parsed when they are read.
// Bytes that are read from a device are untrusted input.
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
    // The memory outlives the writer. Its size is a multiple of `group_unit`.
    explicit GroupWriter(std::span<std::byte> memory) noexcept : memory_{memory} {}

    [[nodiscard]] bool fits(std::size_t payload) const noexcept {
        return bytes_ + record_bytes(payload) <= memory_.size();
    }
    // Adds a record, and returns the room for its payload, which the caller fills. Contract: it
    // fits.
    [[nodiscard]] std::span<std::byte> add(const RecordHeader& record);
    void add(const RecordHeader& record, std::span<const std::byte> payload);

    [[nodiscard]] std::uint32_t records() const noexcept { return records_; }
    // The group's size on the device.
    [[nodiscard]] std::size_t bytes() const noexcept { return padded(bytes_, group_unit); }
    // Completes the group and returns its bytes; the writer is then empty again. The header gets
    // number of records, size and checksum; the caller has set the rest.
    [[nodiscard]] std::span<const std::byte> seal(GroupHeader& header, const Key& key);
    void clear() noexcept;

private:
    std::span<std::byte> memory_;
    std::size_t bytes_ = sizeof(GroupHeader);
    std::uint32_t records_ = 0;
};

struct Record {
    std::uint64_t at = 0;  // number of the record
    RecordHeader header;
    std::span<const std::byte> payload;
};

struct Group {
    GroupHeader header;
    std::vector<Record> records;
};

// The group at the beginning of `bytes`; nullopt: there is no valid group of this journal.
[[nodiscard]] std::optional<Group> group_of(std::span<const std::byte> bytes, const Key& key);

// All valid groups of a segment, also those after one that is not valid.
struct SegmentGroups {
    std::vector<Group> groups;
    bool older_format = false;  // there are groups of format 1
    bool unknown = false;       // there are groups that are torn, damaged, or of another journal
};
[[nodiscard]] SegmentGroups groups_of(std::span<const std::byte> segment, const Key& key);

// True when the bytes are not the expected group, but look like its remains: at least two of the
// fields that identify it are right. Then a group was being written there, or was damaged.
[[nodiscard]] bool looks_like(std::span<const std::byte> bytes, const GroupHeader& expected);

// Parsed payloads. nullopt: the record is of another kind, or too short.
struct FileRecord {
    JournalFileFacts facts;
    std::span<const std::byte> path;
};
[[nodiscard]] std::optional<FileRecord> file_of(const Record& record);
[[nodiscard]] std::optional<ports::ChangeStamp> stamp_of(const Record& record);

}  // namespace forebay::pool::journal
