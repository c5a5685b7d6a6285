// A replica's record while the replica is in use: the one object by which programs' writes and
// moving agree on its state. What it says is on the replica before it is in memory.
#pragma once

#include "foundation/base/result.hpp"
#include "tier/catalogue/tier_record.hpp"
#include "tier/mover/ports.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace forebay::tier {

class LiveRecord {
public:
    // The record of an open replica, as it is on it. The file and the key outlive this object.
    LiveRecord(TieredFile& replica, const RecordKey& key, ReplicaRecord record)
        : replica_{replica}, key_{key}, record_{std::move(record)} {}

    [[nodiscard]] ReplicaRecord get() const {
        const std::lock_guard lock{mutex_};
        return record_;
    }
    // Applies a change, and returns the new record. If it cannot be stored on the replica, the
    // record stays as it was. It is durable with the replica's next sync.
    Result<ReplicaRecord> change(const std::function<void(ReplicaRecord&)>& by);

    // A program is about to write, at the time `now_ns` (CLOCK_REALTIME). Called before bytes of
    // the replica change; afterwards it is dirty, or is being moved in an older generation. Where
    // that was so before, nothing is stored, so that it may be called for each write. Contract: the
    // state is clean, dirty or moving.
    Result<ReplicaRecord> note_write(std::int64_t now_ns);

private:
    TieredFile& replica_;
    const RecordKey& key_;
    mutable std::mutex mutex_;
    ReplicaRecord record_;
};

// Changes a record's state by an event. Contract: the state allows it.
void follow(ReplicaRecord& record, ReplicaEvent event);

// The record of an open file, decoded; a defect or none gives nullopt.
[[nodiscard]] Result<std::optional<ReplicaRecord>> read_replica_record(TieredFile& replica,
                                                                       const RecordKey& key);
[[nodiscard]] Result<std::optional<FileMarker>> read_marker(TieredFile& file, const RecordKey& key);
// The same, or what another place says of the file.
[[nodiscard]] Result<std::optional<FileMarker>> read_any_marker(TieredFile& file,
                                                                const FastPlace& place);
[[nodiscard]] std::optional<FileMarker> decode_any_marker(
    const std::optional<std::vector<std::byte>>& bytes, const FastPlace& place);

// How the list shows a replica with this stamp of its own.
[[nodiscard]] ListedReplica listed(const ReplicaName& name, const ReplicaRecord& record,
                                   const VersionStamp& replica);

}  // namespace forebay::tier
