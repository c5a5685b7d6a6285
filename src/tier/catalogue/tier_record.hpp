// The records by which a tier finds its replicas again. They are kept on the files themselves: in
// an extended attribute of the replica (ReplicaRecord), and in one of the file whose replica it is
// (FileMarker). Their encoding has a version, and a checksum with a key. Pure.
//
//   record:  magic (4) │ version (2) │ kind (1) │ state (1) │ numbers (8 each) │ path │ sum (16)
//
// All numbers are little-endian: nodes of any kind read each other's.
#pragma once

#include "tier/catalogue/replica_state.hpp"
#include "tier/catalogue/version_stamp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace forebay::tier {

inline constexpr const char* replica_attribute = "user.forebay.replica";
inline constexpr const char* marker_attribute = "user.forebay.tier";
inline constexpr std::size_t record_path_bytes_max = 4096;

// A secret of the user, without which nobody can make a record.
using RecordKey = std::array<std::byte, 32>;

// On a replica.
struct ReplicaRecord {
    ReplicaState state = ReplicaState::none;
    std::uint64_t owner = 0;       // the tier that has it (a random number of its fast place)
    std::uint64_t generation = 0;  // counts the times that it became dirty
    std::uint64_t moving = 0;      // in the state `moving`: the generation that is being moved
    std::int64_t target_ns = 0;    // … and the mtime that the file will get
    std::int64_t copied = 0;       // bytes from the beginning that have been copied durably
    std::int64_t dirtied_ns = 0;   // CLOCK_REALTIME when it became dirty in this generation
    VersionStamp base{};           // the file as the tier has left it
    std::string path{};            // where the file was, absolute

    bool operator==(const ReplicaRecord&) const = default;
};

// On a file of the parallel file system, for outsiders and other nodes.
struct FileMarker {
    ReplicaState state = ReplicaState::clean;  // dirty, moving, or clean: it has all its bytes
    std::uint64_t owner = 0;
    std::uint64_t generation = 0;
    std::uint64_t inode = 0;       // a copy of a file may have copied its attributes
    std::int64_t bytes = 0;        // the length that the replica has
    std::int64_t modified_ns = 0;  // clean: the mtime that moving has set

    bool operator==(const FileMarker&) const noexcept = default;
};

[[nodiscard]] std::vector<std::byte> encode(const ReplicaRecord& record, const RecordKey& key);
[[nodiscard]] std::vector<std::byte> encode(const FileMarker& marker, const RecordKey& key);

// Why bytes are no record.
enum class RecordDefect {
    not_a_record,  // it does not begin as one does, or is of the other kind
    newer,         // a later version of Forebay has written it
    damaged,       // it is truncated, torn, or was made with another key
};

// Contract of both: none; the bytes may be anything.
[[nodiscard]] tl::expected<ReplicaRecord, RecordDefect> decode_replica(
    std::span<const std::byte> bytes, const RecordKey& key);
[[nodiscard]] tl::expected<FileMarker, RecordDefect> decode_marker(std::span<const std::byte> bytes,
                                                                   const RecordKey& key);

// Decodes the marker of another place, whose key is not known here: its checksum is not checked, so
// it is a reason to wait and no more. nullopt: the bytes are no marker, or one that claims to be of
// the place `own`.
[[nodiscard]] std::optional<FileMarker> decode_foreign_marker(std::span<const std::byte> bytes,
                                                              std::uint64_t own);

}  // namespace forebay::tier
