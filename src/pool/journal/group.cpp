#include "pool/journal/group.hpp"

#include "base/contracts.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#define XXH_INLINE_ALL
#define XXH_NO_STREAM
#include <xxhash.h>

namespace forebay::pool::journal {

namespace {

constexpr std::size_t summed_from = offsetof(GroupHeader, life);

std::uint64_t checksum_of(std::span<const std::byte> group) noexcept {
    const auto summed = group.subspan(summed_from);
    return XXH3_64bits(summed.data(), summed.size());
}

bool makes_sense(const RecordHeader& record) noexcept {
    const bool about_a_file = record.kind != Kind::life;
    if (record.kind < Kind::file || record.kind > Kind::life || record.number < 0 ||
        about_a_file != (record.file != 0)) {
        return false;
    }
    switch (record.kind) {
        case Kind::file:
            return record.length >= sizeof(FileFacts) &&
                   record.length <= sizeof(FileFacts) + path_bytes_max;
        case Kind::deposit:
            return record.length > 0 &&
                   record.number <= std::numeric_limits<std::int64_t>::max() - record.length;
        case Kind::settled: return record.length == 0 || record.length == sizeof(ports::Stamp);
        default: return record.length == 0;
    }
}

bool follows(const Group& group, const Group& first, std::uint64_t number) noexcept {
    return group.header.epoch == first.header.epoch && group.header.life == first.header.life &&
           group.header.first == number;
}

std::uint64_t end_of(const Group& group) noexcept {
    return group.header.first + group.header.records;
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

std::span<const std::byte> GroupWriter::seal(GroupHeader header) {
    const std::span<std::byte> all = memory_.first(bytes());
    std::memset(all.data() + bytes_, 0, all.size() - bytes_);
    header.magic = journal::magic;
    header.records = records_;
    header.bytes = static_cast<std::uint32_t>(all.size());
    std::memcpy(all.data(), &header, sizeof header);
    header.checksum = checksum_of(all);
    std::memcpy(all.data(), &header, sizeof header);
    clear();
    return all;
}

void GroupWriter::clear() noexcept {
    bytes_ = sizeof(GroupHeader);
    records_ = 0;
}

std::optional<Group> group_of(std::span<const std::byte> bytes) {
    Group group;
    GroupHeader& header = group.header;
    if (bytes.size() < sizeof header) {
        return std::nullopt;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2;
    if (header.magic != journal::magic || header.bytes < group_unit ||
        header.bytes % group_unit != 0 || header.bytes > bytes.size() || header.first > most ||
        header.epoch > most || header.oldest > header.epoch || header.time_ns < 0) {
        return std::nullopt;
    }
    bytes = bytes.first(header.bytes);
    if (checksum_of(bytes) != header.checksum) {
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

SegmentGroups groups_of(std::span<const std::byte> segment) {
    SegmentGroups found;
    std::size_t at = 0;
    while (at < segment.size()) {
        auto group = group_of(segment.subspan(at));
        if (!group || (!found.groups.empty() &&
                       !follows(*group, found.groups.front(), end_of(found.groups.back())))) {
            break;
        }
        at += group->header.bytes;
        found.groups.push_back(std::move(*group));
    }
    for (; !found.groups.empty() && at < segment.size(); at += group_unit) {
        const auto group = group_of(segment.subspan(at));
        const Group& first = found.groups.front();
        if (group && group->header.epoch == first.header.epoch &&
            group->header.life == first.header.life) {
            found.damaged = true;
            break;
        }
    }
    return found;
}

std::optional<FileRecord> file_of(const Record& record) {
    FileRecord file;
    if (record.header.kind != Kind::file || record.payload.size() < sizeof file.facts) {
        return std::nullopt;
    }
    std::memcpy(&file.facts, record.payload.data(), sizeof file.facts);
    file.path = record.payload.subspan(sizeof file.facts);
    return file;
}

std::optional<ports::Stamp> stamp_of(const Record& record) {
    ports::Stamp stamp;
    if (record.header.kind != Kind::settled || record.payload.size() != sizeof stamp) {
        return std::nullopt;
    }
    std::memcpy(&stamp, record.payload.data(), sizeof stamp);
    return stamp;
}

}  // namespace forebay::pool::journal
