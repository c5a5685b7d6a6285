// Decides what is done with a replica that was found: after a restart, after a kill at any point,
// or when a file is opened. Pure.
#pragma once

#include "tier/catalogue/tier_record.hpp"

#include <cstdint>
#include <optional>

namespace forebay::tier {

// Everything that can be known about a replica and the file that it is of.
struct FoundReplica {
    std::uint64_t owner = 0;                // of the tier that asks
    VersionStamp replica{};                 // its own times
    std::optional<ReplicaRecord> record{};  // nullopt: none can be read
    std::optional<VersionStamp> file{};     // nullopt: the file is not where it was
    std::optional<FileMarker> marker{};     // of the file
};

enum class RedoAction {
    nothing,       // it is as it should be
    remove,        // the file has all bytes, or newer ones
    compare,       // clean, if it has the same bytes as the file; else remove
    mark_again,    // dirty: the file's marker has to say so
    move_again,    // moving was interrupted; go on behind `copied`
    finish_move,   // moving had ended, but for the replica's own record
    follow_write,  // the same, but somebody has written since: it is dirty
    rescue,        // somebody else has changed the file, or nobody knows which file it was
};

[[nodiscard]] RedoAction redo_of(const FoundReplica& found) noexcept;

// Moving writes a checkpoint of what it has done at least so often, so that a change of the file
// much later than the last one was not its own.
inline constexpr std::int64_t checkpoint_ns_max = 5'000'000'000;
inline constexpr std::int64_t checkpoint_slack_ns = 25'000'000'000;

// Whether a file that was being moved has been changed by nobody else, as far as can be told:
// either it is as the last checkpoint left it, or its mtime is one that moving itself gives: that
// of a write since the checkpoint, or `target_ns`. Attributes may have been changed by anybody.
[[nodiscard]] bool is_own_change(const ReplicaRecord& record, const VersionStamp& file) noexcept;

// The meaning of a file's marker where this tier has no replica of the file.
enum class MarkerVerdict {
    whole,      // the file has all of its bytes
    elsewhere,  // another tier has bytes of it
    lost,       // this tier had bytes of it, and the replica is gone
};
[[nodiscard]] MarkerVerdict judge_marker(const std::optional<FileMarker>& marker,
                                         std::uint64_t inode, std::uint64_t owner) noexcept;

}  // namespace forebay::tier
