// Every change is made to a copy, stored, and only then adopted.
#include "tier/mover/live_record.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <utility>

namespace forebay::tier {

Result<ReplicaRecord> LiveRecord::change(const std::function<void(ReplicaRecord&)>& by) {
    const std::lock_guard lock{mutex_};
    ReplicaRecord next = record_;
    by(next);
    if (next != record_) {
        if (auto stored = replica_.set_record(encode(next, key_)); !stored) {
            return failure(std::move(stored.error()));
        }
        record_ = std::move(next);
    }
    return record_;
}

Result<ReplicaRecord> LiveRecord::note_write(std::int64_t now_ns) {
    return change([now_ns](ReplicaRecord& record) {
        const bool first =
            record.state == ReplicaState::clean ||
            (record.state == ReplicaState::moving && record.generation == record.moving);
        follow(record, ReplicaEvent::is_written);
        record.generation += first ? 1 : 0;
        record.dirtied_ns = first ? now_ns : record.dirtied_ns;
    });
}

void follow(ReplicaRecord& record, ReplicaEvent event) {
    const auto after = state_after(record.state, event);
    expects(after.has_value(), "the event can happen in the replica's state");
    record.state = *after;
}

Result<std::optional<ReplicaRecord>> read_replica_record(TieredFile& replica,
                                                         const RecordKey& key) {
    const auto bytes = replica.record();
    if (!bytes) {
        return failure(bytes.error());
    }
    const auto record =
        *bytes ? decode_replica(**bytes, key) : tl::unexpected{RecordDefect::not_a_record};
    return record ? std::optional{*record} : std::nullopt;
}

Result<std::optional<FileMarker>> read_marker(TieredFile& file, const RecordKey& key) {
    const auto bytes = file.record();
    if (!bytes) {
        return failure(bytes.error());
    }
    const auto marker =
        *bytes ? decode_marker(**bytes, key) : tl::unexpected{RecordDefect::not_a_record};
    return marker ? std::optional{*marker} : std::nullopt;
}

std::optional<FileMarker> decode_any_marker(const std::optional<std::vector<std::byte>>& bytes,
                                            const FastPlace& place) {
    if (!bytes) {
        return std::nullopt;
    }
    const auto marker = decode_marker(*bytes, place.key());
    return marker ? std::optional{*marker} : decode_foreign_marker(*bytes, place.owner());
}

Result<std::optional<FileMarker>> read_any_marker(TieredFile& file, const FastPlace& place) {
    const auto bytes = file.record();
    return bytes ? Result<std::optional<FileMarker>>{decode_any_marker(*bytes, place)}
                 : failure(bytes.error());
}

ListedReplica listed(const ReplicaName& name, const ReplicaRecord& record,
                     const VersionStamp& replica) {
    const bool waits = record.state == ReplicaState::dirty || record.state == ReplicaState::moving;
    return {.name = name,
            .state = record.state,
            .generation = record.generation,
            .bytes = replica.bytes,
            .heat = 1,
            .used_ns = std::max(replica.modified_ns, record.dirtied_ns),
            .dirtied_ns = waits ? record.dirtied_ns : 0,
            .path = record.path};
}

}  // namespace forebay::tier
