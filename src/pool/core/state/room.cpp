#include "pool/core/state/room.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay::pool {

namespace {

constexpr std::int64_t hope_ns_max = 1'000'000'000;
// What may be deposited before the next look, and as much again.
constexpr std::int64_t scarce_room_bytes = 2 * room_margin_bytes;

bool is_for_want_of_room(int error) noexcept { return error == ENOSPC || error == EDQUOT; }

}  // namespace

std::int64_t promised_on(const PoolState& pool_state, std::uint64_t device) {
    std::int64_t promised = 0;
    for (const std::uint32_t slot : pool_state.busy) {
        const File* const file = pool_state.files[slot].get();
        if (file != nullptr && file->open->identity.device == device) {
            promised += file->held_bytes;
        }
    }
    return promised;
}

bool is_short_of_room(const PoolState& pool_state, const File& file, std::int64_t room) {
    // What may be promised at all is less than this: nothing has to be counted.
    if (room < 0 || room > pool_state.options.cap_bytes + room_margin_bytes) {
        return false;
    }
    return promised_on(pool_state, file.open->identity.device) + room_margin_bytes > room;
}

void note_room(PoolState& pool_state, const File& file, std::int64_t room) {
    FileSlot& slot = pool_state.slot_of(file);
    const bool scarce =
        room >= 0 && room <= pool_state.options.cap_bytes + scarce_room_bytes &&
        promised_on(pool_state, file.open->identity.device) + scarce_room_bytes > room;
    slot.scarce.store(scarce ? 1 : 0, std::memory_order_relaxed);
}

bool room_may_come(const PoolState& pool_state, const File& file, std::int64_t since_ns) {
    const std::uint64_t device = file.open->identity.device;
    if (pool_state.closing_on(device)) {
        return true;
    }
    return std::ranges::any_of(pool_state.busy, [&](std::uint32_t slot) {
        const File* const other = pool_state.files[slot].get();
        if (other == nullptr || other == &file || !other->clients.empty() ||
            other->open->identity.device != device) {
            return false;
        }
        // Where other nodes may have it open, it is drained whether it has a name or not.
        const bool may_have_no_name = !pool_state.options.shared &&
                                      (other->name_asked_ns < since_ns || other->background_task);
        return other->held_bytes == 0 || may_have_no_name;
    });
}

bool hopes_for_room(const PoolState& pool_state, File& file) {
    if (!is_for_want_of_room(file.pass.error)) {
        return false;
    }
    const std::int64_t now = pool_state.now_ns();
    if (file.short_since_ns == never_ns) {
        file.short_since_ns = now;
        return true;
    }
    return now - file.short_since_ns < hope_ns_max &&
           room_may_come(pool_state, file, file.short_since_ns);
}

}  // namespace forebay::pool
