// The states of a replica, and what may follow what. Pure.
//
//   none ─▶ filling ─▶ clean ─▶ dirty ─▶ moving ─▶ clean ─▶ evicting ─▶ none
//     └──────────────────────▶ dirty ◀─────┘ │
//                                └───────────┴▶ rescued
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace forebay::tier {

enum class ReplicaState : std::uint8_t {
    none = 0,
    filling = 1,   // bytes are being copied from the parallel file system: it has them all
    clean = 2,     // both have the same bytes
    dirty = 3,     // the replica has bytes that the parallel file system lacks
    moving = 4,    // they are being copied there, into the same file
    evicting = 5,  // the replica is being removed
    rescued = 6,   // the bytes are in a rescue file, since somebody else has changed the file
};

enum class ReplicaEvent {
    fill_begins,
    fill_ends,  // durably, and the file was not changed meanwhile
    fill_fails,
    is_written,  // a program writes, to a replica or to a new file
    move_begins,
    move_ends,       // nobody has written since it began
    move_overtaken,  // it has ended, but somebody has written since
    move_fails,
    changed_outside,  // somebody changed the file on the parallel file system
    evict_begins,
    evict_ends,
};

// The state after an event; nullopt: the event cannot happen in this state. A write to a replica
// that is being moved leaves it `moving`: its generation tells.
[[nodiscard]] std::optional<ReplicaState> state_after(ReplicaState state,
                                                      ReplicaEvent event) noexcept;

// Whether the parallel file system has all bytes, so that the replica may be removed.
[[nodiscard]] bool is_redundant(ReplicaState state) noexcept;
// Whether the replica has bytes that its file lacks, or may lack.
[[nodiscard]] bool is_dirty(ReplicaState state) noexcept;

[[nodiscard]] std::string_view name_of(ReplicaState state) noexcept;

}  // namespace forebay::tier
