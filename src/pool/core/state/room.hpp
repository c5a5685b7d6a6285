// Room on file systems: what was promised of it, and what will soon be given back. A file that is
// unlinked and closed keeps its blocks as long as the daemon has it open: no program sees a full
// disk that would not be full without the pool.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <cstdint>

namespace forebay::pool {

// Beyond what is deposited, so much has to be free: more may come before the next look.
inline constexpr std::int64_t room_margin_bytes = std::int64_t{16} << 20;

// Bytes that are deposited for files of this file system.
[[nodiscard]] std::int64_t promised_on(const PoolState& pool_state, std::uint64_t device);

// Where `room` bytes of the file's file system are free: too few to promise any more of them.
[[nodiscard]] bool is_short_of_room(const PoolState& pool_state, const PooledFile& file,
                                    std::int64_t room);

// To be made before the file system is asked.
[[nodiscard]] RoomLook begin_look(const PoolState& pool_state);

// Keeps the file system's answer, and tells clients by FileSlot::room.
void note_room(PoolState& pool_state, PooledFile& file, const RoomLook& look);

// Whether what was deposited until `since_ns`, and is taken, arrives.
enum class RoomEstimate {
    has_room,  // as far as can be known
    unsure,    // it has to be drained to be known
    unknown,   // the file system has to be asked once more: others may take of its room, too
};
[[nodiscard]] RoomEstimate arrival_of(PoolState& pool_state, const PooledFile& file,
                                      std::int64_t since_ns);

// Files of the same file system are being closed, or may have lost their names since `since_ns`:
// what has failed for want of room may be done then.
[[nodiscard]] bool room_may_come(const PoolState& pool_state, const PooledFile& file,
                                 std::int64_t since_ns);

// A pass over the file has failed for want of room: whether it is worth another one before anybody
// learns of it. At least once it is, and for no longer than a second.
[[nodiscard]] bool hopes_for_room(const PoolState& pool_state, PooledFile& file);

}  // namespace forebay::pool
