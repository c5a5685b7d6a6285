// Operations on replicas, besides moving them: fill one, make one for a file that is written,
// remove and rescue one, and set everything right after a restart.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/clock.hpp"
#include "storage/transfer/gate.hpp"
#include "tier/catalogue/redo.hpp"
#include "tier/mover/copy_range.hpp"
#include "tier/mover/live_record.hpp"
#include "tier/mover/ports.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forebay::tier {

enum class FillEnd {
    filled,
    changed,    // somebody changed the file meanwhile: no replica was made
    elsewhere,  // another tier has bytes of the file that it lacks
    lost,       // this tier had bytes of the file, and their replica is gone: programs get EIO
};

// A replica that has just been made, still open, so that it need not be looked for again.
struct MadeReplica {
    std::unique_ptr<TieredFile> replica{};
    ReplicaRecord record{};
};

// Copies a file of the parallel file system to fast storage. Contract: it has no replica. `path` is
// the file's, for the record. At most copy_buffers requests are in flight. Whatever is not filled
// takes no room afterwards. `made`, if it is given, gets what was filled.
[[nodiscard]] Result<FillEnd> fill_replica(const TierParts& parts, const ReplicaName& name,
                                           const std::string& path, TieredFile& file,
                                           const ports::TimeSource& clock, CopyMemory& memory,
                                           MadeReplica* made = nullptr);

// Makes an empty replica for a file that a program has just created or truncated, and is about to
// write to at the time `now_ns` (CLOCK_REALTIME). Contract: the file is empty and has no replica.
// Errors of fast storage (ENOSPC, EDQUOT, EIO) leave nothing behind: the program writes to the file
// itself then.
Result<MadeReplica> make_replica(const TierParts& parts, const ReplicaName& name,
                                 const std::string& path, TieredFile& file, std::int64_t now_ns);

// A program is about to write to a replica: it becomes dirty, and so does the file's marker.
Result<void> begin_writing(const TierParts& parts, const ReplicaName& name, LiveRecord& record,
                           TieredFile& replica, TieredFile& file, std::int64_t now_ns);

// Gives the file the marker that says to others what its replica is: the state and generation of
// `record`, the length and time of `replica`.
Result<void> set_marker(const TierParts& parts, const ReplicaName& name, TieredFile& file,
                        const ReplicaRecord& record, const VersionStamp& replica);

// Removes a replica whose bytes the file has. Contract: is_redundant(), and nobody has it open.
Result<void> evict(const TierParts& parts, const ReplicaName& name);

// Why bytes go to a rescue file.
enum class RescueReason { changed_outside, file_is_gone, no_record };

struct RescuedReplica {
    ReplicaName name;
    TieredFile& replica;
    std::optional<ReplicaRecord> record{};  // nullopt: it has none that can be read
    TieredFile* file = nullptr;             // null: it is gone
    RescueReason reason = RescueReason::changed_outside;
};

// Moves a replica to the rescue folder with a note that says what to do, and takes this tier's
// marker off the file. Returns the path of the rescued bytes.
[[nodiscard]] Result<std::string> rescue(const TierParts& parts, const RescuedReplica& rescued);

// A replica that a recovery has found, and what became of it.
struct RecoveredReplica {
    ReplicaName name{};
    std::string path{};
    RedoAction done = RedoAction::nothing;
    std::string kept_in{};  // rescue: where
    // Why it was left as it is (its file may not be opened, for example); it is listed all the
    // same.
    std::optional<Error> obstacle{};
};

// Sets one replica right: before it is used, or when the list may be wrong about it. A replica that
// does not exist counts as removed.
[[nodiscard]] Result<RecoveredReplica> set_right(const TierParts& parts, const ReplicaName& name,
                                                 CopyMemory& memory);

// A replica that was set right, with both files open; null where it was removed or rescued.
struct RightReplica {
    RecoveredReplica recovered{};
    std::unique_ptr<TieredFile> replica{};
    std::unique_ptr<TieredFile> file{};
    std::optional<ReplicaRecord> record{};
};
// The same as set_right(), for a replica that is used next. One that cannot be set right is listed
// if its record can be read, and recovered.obstacle says why.
[[nodiscard]] Result<RightReplica> open_right(const TierParts& parts, const ReplicaName& name,
                                              CopyMemory& memory);

// Sets every replica right, and makes the list anew. Those that are dirty or were being moved are
// listed so; moving them is left to the caller. An error of one replica is its obstacle, and one of
// the place or the list ends it; done again, it goes on. Returns those that were not as they should
// be.
[[nodiscard]] Result<std::vector<RecoveredReplica>> recover(const TierParts& parts,
                                                            CopyMemory& memory);

}  // namespace forebay::tier
