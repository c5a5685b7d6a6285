// For tests: groups made of records in a readable notation.
#pragma once

#include "pool/journal/format/group.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::pool::journal {

struct Said {
    RecordKind kind = RecordKind::life;
    std::uint64_t file = 0;
    std::int64_t number = 0;
    std::string payload{};
};

inline std::string bytes_of(const void* at, std::size_t count) {
    return {static_cast<const char*>(at), count};
}
inline Said a_file(std::uint64_t file, std::string_view path, const JournalFileFacts& facts) {
    return {RecordKind::file, file, 0, bytes_of(&facts, sizeof facts) + std::string{path}};
}
inline Said settled(std::uint64_t file, std::int64_t through) {
    return {RecordKind::settled, file, through, {}};
}
inline Said settled(std::uint64_t file, std::int64_t through, const ports::ChangeStamp& stamp) {
    return {RecordKind::settled, file, through, bytes_of(&stamp, sizeof stamp)};
}

inline const Key a_key{std::byte{1}, std::byte{2}, std::byte{3}};

// The bytes of a group on a device; its header is completed.
inline std::vector<std::byte> group_bytes(GroupHeader& header, const std::vector<Said>& records,
                                          const Key& key = a_key) {
    std::vector<std::byte> memory(std::size_t{1} << 20);
    GroupWriter writer{memory};
    for (const Said& one : records) {
        writer.add({.kind = one.kind,
                    .length = static_cast<std::uint32_t>(one.payload.size()),
                    .file = one.file,
                    .number = one.number},
                   std::as_bytes(std::span{one.payload}));
    }
    const auto sealed = writer.seal(header, key);
    return {sealed.begin(), sealed.end()};
}
inline std::vector<std::byte> group_bytes(const GroupHeader& header,
                                          const std::vector<Said>& records) {
    GroupHeader own = header;
    return group_bytes(own, records, a_key);
}

// A segment of this many bytes that begins with these groups.
inline std::vector<std::byte> segment_of(const std::vector<std::vector<std::byte>>& groups,
                                         std::size_t bytes = std::size_t{64} << 10) {
    std::vector<std::byte> all;
    for (const auto& group : groups) {
        all.insert(all.end(), group.begin(), group.end());
    }
    all.resize(bytes);
    return all;
}

}  // namespace forebay::pool::journal
