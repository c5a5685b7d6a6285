// Moves a dirty replica's bytes into its file on the parallel file system. Every step can be done
// again after a kill, and the order is such that the replica is needed until nothing is missing:
//
//   replica: moving ▶ file: moving ▶ copy, with checkpoints ▶ length, time ▶ fsync ▶ file: clean
//     ▶ fsync ▶ replica: clean ▶ fsync ▶ list ▶ it may be evicted
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/clock.hpp"
#include "storage/transfer/gate.hpp"
#include "tier/mover/copy_range.hpp"
#include "tier/mover/live_record.hpp"
#include "tier/mover/ports.hpp"

#include <cstdint>
#include <functional>

namespace forebay::tier {

struct MoveOptions {
    // A checkpoint follows after so many bytes, or checkpoint_ns_max / 2. Between two of them, it
    // is seen whether somebody else has changed the file.
    std::int64_t checkpoint_bytes = std::int64_t{256} << 20;
    std::int64_t chunk_bytes = std::int64_t{64} << 20;  // copied between two looks at the time
};

enum class MoveEnd {
    moved,            // the replica is clean
    overtaken,        // somebody has written meanwhile: the replica is dirty, and is moved later
    changed_outside,  // somebody else has changed the file: the replica is to be rescued
    replaced,         // somebody else has changed it after it had all bytes: remove the replica
};

class MoveTask {
public:
    // An open replica and its file. All outlive the task.
    struct Files {
        ReplicaName name;
        TieredFile& replica;
        TieredFile& file;
        LiveRecord& record;
    };
    // `clock`: monotonic, for checkpoints.
    MoveTask(const TierParts& parts, const Files& files, transfer::Gate& gate,
             const ports::TimeSource& clock, CopyMemory& memory, const MoveOptions& options = {});

    // Blocks until the end. Contract: the replica is dirty or moving. After an error the replica
    // still has all bytes and is `moving`: run another task later.
    [[nodiscard]] Result<MoveEnd> run();

private:
    // The result of a step; nullopt: go on with the next one.
    using Step = Result<std::optional<MoveEnd>>;

    Step begin();
    Step mark_file();
    Step copy();
    Step copy_chunk(Offset& at, Offset until);
    // Looks whether somebody else has changed the file's contents since the last look.
    Step look();
    Step checkpoint(Offset at);
    Step complete_file();
    Step finish();

    Result<void> set_marker(ReplicaState state, std::uint64_t generation);
    // After an error: what the file has become so far is our own.
    void keep_position();
    // Takes the file's present contents for our own, after a change that we made.
    Result<void> remember();

    TierParts parts_;
    Files files_;
    transfer::Gate& gate_;
    const ports::TimeSource& clock_;
    CopyMemory& memory_;
    MoveOptions options_;
    VersionStamp replica_then_{};   // the replica when copying began
    VersionStamp own_{};            // the file as this task has left it
    Length length_{};               // of the replica when copying began
    std::int64_t modified_ns_ = 0;  // the replica's mtime, which the file gets
    std::int64_t checked_ns_ = 0;   // when the last checkpoint was made
    Offset checked_{};              // … and up to where
};

}  // namespace forebay::tier
