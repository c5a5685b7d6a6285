// Writes and parses groups. What is parsed is untrusted input: every number is checked.
#include "pool/journal/format/group.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace forebay::pool::journal {

namespace {

constexpr std::size_t summed_from = offsetof(GroupHeader, number);

// The header serves as the nonce: life, number and time of two groups are never all the same.
KeyedSum sum_of_group(std::span<const std::byte> group, const Key& key) {
    return sum_of(key, group.subspan(summed_from), sizeof(GroupHeader) - summed_from);
}

std::uint64_t word_at(std::span<const std::byte> bytes) noexcept {
    std::uint64_t word = 0;
    if (bytes.size() >= sizeof word) {
        std::memcpy(&word, bytes.data(), sizeof word);
    }
    return word;
}

bool makes_sense(const RecordHeader& record) noexcept {
    const bool about_a_file = record.kind != RecordKind::life;
    if (record.kind < RecordKind::file || record.kind > RecordKind::life || record.number < 0 ||
        about_a_file != (record.file != 0)) {
        return false;
    }
    switch (record.kind) {
        case RecordKind::file:
            return record.length >= sizeof(JournalFileFacts) &&
                   record.length <= sizeof(JournalFileFacts) + path_bytes_max;
        case RecordKind::deposit:
            return record.length > 0 &&
                   record.number <= std::numeric_limits<std::int64_t>::max() - record.length;
        case RecordKind::settled:
            return record.length == 0 || record.length == sizeof(ports::ChangeStamp);
        default: return record.length == 0;
    }
}

}  // namespace

std::span<std::byte> GroupWriter::add(const RecordHeader& record) {
    expects(fits(record.length), "the record fits");
    std::byte* const to = memory_.data() + bytes_;
    std::memcpy(to, &record, sizeof record);
    const std::size_t all = record_bytes(record.length);
    std::memset(to + sizeof record + record.length, 0, all - sizeof record - record.length);
    bytes_ += all;
    ++records_;
    return {to + sizeof record, record.length};
}

void GroupWriter::add(const RecordHeader& record, std::span<const std::byte> payload) {
    expects(record.length == payload.size(), "the record says how long its payload is");
    const std::span<std::byte> to = add(record);
    std::copy(payload.begin(), payload.end(), to.begin());
}

std::span<const std::byte> GroupWriter::seal(GroupHeader& header, const Key& key) {
    expects(bytes() <= memory_.size(), "a group lies within its memory");
    const std::span<std::byte> all = memory_.first(bytes());
    std::memset(all.data() + bytes_, 0, all.size() - bytes_);
    header.magic = journal::magic;
    header.records = records_;
    header.bytes = static_cast<std::uint32_t>(all.size());
    std::memcpy(all.data(), &header, sizeof header);
    header.sum = sum_of_group(all, key);
    std::memcpy(all.data(), &header, sizeof header);
    clear();
    return all;
}

void GroupWriter::clear() noexcept {
    bytes_ = sizeof(GroupHeader);
    records_ = 0;
}

std::optional<Group> group_of(std::span<const std::byte> bytes, const Key& key) {
    Group group;
    GroupHeader& header = group.header;
    if (bytes.size() < sizeof header) {
        return std::nullopt;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2;
    if (header.magic != journal::magic || header.bytes < group_unit ||
        header.bytes % group_unit != 0 || header.bytes > bytes.size() || header.first > most ||
        header.epoch > most || header.number > most || header.oldest > header.epoch ||
        header.time_ns < 0) {
        return std::nullopt;
    }
    bytes = bytes.first(header.bytes);
    if (sum_of_group(bytes, key) != header.sum) {
        return std::nullopt;
    }
    bytes = bytes.subspan(sizeof header);
    for (std::uint32_t i = 0; i < header.records; ++i) {
        Record record;
        if (bytes.size() < sizeof record.header) {
            return std::nullopt;
        }
        std::memcpy(&record.header, bytes.data(), sizeof record.header);
        const std::size_t all = record_bytes(record.header.length);
        if (all > bytes.size() || !makes_sense(record.header)) {
            return std::nullopt;
        }
        record.at = header.first + i;
        record.payload = bytes.subspan(sizeof record.header, record.header.length);
        bytes = bytes.subspan(all);
        group.records.push_back(record);
    }
    return group;
}

SegmentGroups groups_of(std::span<const std::byte> segment, const Key& key) {
    SegmentGroups found;
    for (std::size_t at = 0; at < segment.size();) {
        const std::uint64_t word = word_at(segment.subspan(at));
        found.older_format = found.older_format || word == magic_before;
        auto group = word == magic ? group_of(segment.subspan(at), key) : std::nullopt;
        if (group && group->header.at == at) {
            at += group->header.bytes;
            found.groups.push_back(std::move(*group));
        } else {
            found.unknown = found.unknown || word == magic;
            at += group_unit;
        }
    }
    return found;
}

bool looks_like(std::span<const std::byte> bytes, const GroupHeader& expected) {
    GroupHeader header;
    if (bytes.size() < sizeof header) {
        return false;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    const int same =
        (header.magic == expected.magic ? 1 : 0) + (header.number == expected.number ? 1 : 0) +
        (header.epoch == expected.epoch ? 1 : 0) + (header.before == expected.before ? 1 : 0);
    return same > 1;
}

std::optional<FileRecord> file_of(const Record& record) {
    FileRecord file;
    if (record.header.kind != RecordKind::file || record.payload.size() < sizeof file.facts) {
        return std::nullopt;
    }
    std::memcpy(&file.facts, record.payload.data(), sizeof file.facts);
    file.path = record.payload.subspan(sizeof file.facts);
    return file;
}

std::optional<ports::ChangeStamp> stamp_of(const Record& record) {
    ports::ChangeStamp stamp;
    if (record.header.kind != RecordKind::settled || record.payload.size() != sizeof stamp) {
        return std::nullopt;
    }
    std::memcpy(&stamp, record.payload.data(), sizeof stamp);
    return stamp;
}

}  // namespace forebay::pool::journal
