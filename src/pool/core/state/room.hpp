// Free space ("room") on the file systems below the pool. The pool acknowledges a write before the
// file system has allocated space for it, so that ENOSPC would come too late for write(). So it
// looks at the free space from time to time, and compares it to the bytes that it has promised to
// write.
//
// A file that was unlinked and closed keeps its blocks while the daemon has it open. The pool waits
// for such blocks to come free: no program shall see a full disk that would not be full without the
// pool.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <cstdint>

namespace forebay::pool {

// This much has to be free beyond what is deposited, for writes that come before the next look.
inline constexpr std::int64_t room_margin_bytes = std::int64_t{16} << 20;

// The bytes deposited and not drained for all files of file system `device`: the promised space.
[[nodiscard]] std::int64_t promised_on(const PoolState& pool_state, std::uint64_t device);

// Whether a file system with `room` free bytes has too few for more deposits. A negative `room`
// (unknown) is never too few.
[[nodiscard]] bool is_short_of_room(const PoolState& pool_state, const PooledFile& file,
                                    std::int64_t room);

// The beginning of a look, to be called before the file system is asked. What is drained after that
// is subtracted from the answer.
[[nodiscard]] RoomLook begin_look(const PoolState& pool_state);

// Stores the answer of the file system as the file's last look, and tells clients by
// FileSlot::room.
void note_room(PoolState& pool_state, PooledFile& file, const RoomLook& look);

// Whether there is space for the deposits of a file: for a close that wants to report ENOSPC
// without waiting until the file is drained.
enum class RoomEstimate {
    has_room,  // there is enough, as far as a recent look at the file system can tell
    // Only draining can tell, since space is scarce or the file is not pooled. Or there is nothing
    // left to drain.
    must_drain,
    // The last look is too old, or does not show enough; others use the space, too. Look again.
    must_look,
};
// `since_ns`: only a look that began then or later counts, which has seen all that the client
// wrote.
[[nodiscard]] RoomEstimate arrival_of(PoolState& pool_state, const PooledFile& file,
                                      std::int64_t since_ns);

// Whether space may soon come free: files of the same file system are being closed, or may have
// lost their last names since `since_ns`. A pass that has failed with ENOSPC may then succeed.
[[nodiscard]] bool room_may_come(const PoolState& pool_state, const PooledFile& file,
                                 std::int64_t since_ns);

// Whether to try again, before a client is told, after a pass over the file has failed with ENOSPC
// or EDQUOT: once in any case, then for up to a second while space may come free.
[[nodiscard]] bool hopes_for_room(const PoolState& pool_state, PooledFile& file);

}  // namespace forebay::pool
