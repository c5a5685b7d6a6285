// One function for each state in which a replica can be found.
#include "tier/catalogue/redo.hpp"

namespace forebay::tier {

namespace {

// Whether a file system that was told the first time may have kept the second: some keep seconds.
bool is_rounded(std::int64_t told_ns, std::int64_t kept_ns) noexcept {
    constexpr std::int64_t unit_ns = 1'000'000'000;
    return kept_ns == told_ns ||
           (kept_ns % unit_ns == 0 && told_ns > kept_ns && told_ns - kept_ns < 2 * unit_ns);
}

// The marker, if it is of this file: copying a file may copy its attributes.
const FileMarker* own_marker(const FoundReplica& found) noexcept {
    return found.marker && found.marker->inode == found.file->inode ? &*found.marker : nullptr;
}

// Whether another tier has bytes of the file, or had them later than this one.
bool is_taken_over(const FoundReplica& found) noexcept {
    const FileMarker* const marker = own_marker(found);
    return marker != nullptr && marker->owner != found.owner &&
           (marker->state != ReplicaState::clean || marker->generation > found.record->generation);
}

RedoAction redo_clean(const FoundReplica& found) noexcept {
    if (is_taken_over(found)) {
        return RedoAction::remove;
    }
    switch (compare_stamps(found.record->base, *found.file)) {
        case StampVerdict::same: return RedoAction::nothing;
        case StampVerdict::racy:
        case StampVerdict::attributes: return RedoAction::compare;
        case StampVerdict::contents:
        case StampVerdict::other_file: return RedoAction::remove;
    }
    return RedoAction::remove;
}

RedoAction redo_dirty(const FoundReplica& found) noexcept {
    const StampVerdict verdict = compare_stamps(found.record->base, *found.file);
    if (verdict == StampVerdict::contents || verdict == StampVerdict::other_file) {
        return RedoAction::rescue;
    }
    const FileMarker* const marker = own_marker(found);
    if (is_taken_over(found)) {
        return RedoAction::rescue;
    }
    const bool said = marker != nullptr && marker->owner == found.owner &&
                      marker->state == ReplicaState::dirty &&
                      marker->generation == found.record->generation;
    return said ? RedoAction::nothing : RedoAction::mark_again;
}

RedoAction redo_moving(const FoundReplica& found) noexcept {
    const ReplicaRecord& record = *found.record;
    const FileMarker* const marker = own_marker(found);
    if (is_taken_over(found)) {
        return RedoAction::rescue;
    }
    const bool ended = marker != nullptr && marker->owner == found.owner &&
                       marker->state == ReplicaState::clean && marker->generation == record.moving;
    if (!ended) {
        return is_own_change(record, *found.file) ? RedoAction::move_again : RedoAction::rescue;
    }
    // Stores to a mapping make no generation, but change the replica's mtime.
    const bool overtaken =
        record.generation != record.moving || found.replica.modified_ns != record.target_ns;
    const bool unchanged =
        found.file->bytes == marker->bytes && found.file->modified_ns == marker->modified_ns;
    if (unchanged) {
        return overtaken ? RedoAction::follow_write : RedoAction::finish_move;
    }
    return overtaken ? RedoAction::rescue : RedoAction::remove;
}

}  // namespace

bool is_own_change(const ReplicaRecord& record, const VersionStamp& file) noexcept {
    switch (compare_stamps(record.base, file)) {
        case StampVerdict::same:
        case StampVerdict::racy:
        case StampVerdict::attributes: return true;
        case StampVerdict::other_file: return false;
        case StampVerdict::contents: break;
    }
    // Stamps are taken by a clock that may be behind the file system's by a second.
    constexpr std::int64_t behind_ns = 1'000'000'000;
    const std::int64_t from = record.base.taken_ns - behind_ns;
    const std::int64_t until = record.base.taken_ns + checkpoint_ns_max + checkpoint_slack_ns;
    return (file.modified_ns >= from && file.modified_ns <= until) ||
           is_rounded(record.target_ns, file.modified_ns);
}

RedoAction redo_of(const FoundReplica& found) noexcept {
    if (!found.record || found.record->owner != found.owner) {
        return RedoAction::rescue;
    }
    if (is_redundant(found.record->state) && found.record->state != ReplicaState::clean) {
        return RedoAction::remove;
    }
    if (!found.file) {
        return found.record->state == ReplicaState::clean ? RedoAction::remove : RedoAction::rescue;
    }
    switch (found.record->state) {
        case ReplicaState::clean: return redo_clean(found);
        case ReplicaState::dirty: return redo_dirty(found);
        case ReplicaState::moving: return redo_moving(found);
        default: return RedoAction::rescue;
    }
}

MarkerVerdict judge_marker(const std::optional<FileMarker>& marker, std::uint64_t inode,
                           std::uint64_t owner) noexcept {
    if (!marker || marker->inode != inode || marker->state == ReplicaState::clean) {
        return MarkerVerdict::whole;
    }
    return marker->owner == owner ? MarkerVerdict::lost : MarkerVerdict::elsewhere;
}

}  // namespace forebay::tier
