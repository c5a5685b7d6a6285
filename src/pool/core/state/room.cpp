// Compares the free space of file systems with what the pool has promised to write there.
#include "pool/core/state/room.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay::pool {

namespace {

// Maximum time for which failed draining waits for space; see hopes_for_room().
constexpr std::int64_t hope_ns_max = 1'000'000'000;
// Space is scarce if less than this is left beyond what is promised: twice what may be deposited
// until the next look.
constexpr std::int64_t scarce_room_bytes = 2 * room_margin_bytes;

bool is_for_want_of_room(int error) noexcept { return error == ENOSPC || error == EDQUOT; }

// Whether the pool could hold more than the file system has space for. A negative `room` is
// unknown.
bool is_limited(const PoolState& pool_state, std::int64_t room) noexcept {
    return room >= 0 && room <= pool_state.options.cap_bytes + scarce_room_bytes;
}

// Whether all that is deposited on the file's file system fits, by the last look. Bytes that were
// drained since that look, to any file, may have used space there, and are counted as if they had.
bool fits(const PoolState& pool_state, const PooledFile& file) {
    const RoomLook& look = file.room.look;
    const std::int64_t drained = pool_state.counts.drained_bytes - look.drained_bytes;
    return promised_on(pool_state, file.open->identity.device) + drained + scarce_room_bytes <=
           look.room;
}

}  // namespace

std::int64_t promised_on(const PoolState& pool_state, std::uint64_t device) {
    std::int64_t promised = 0;
    pool_state.files.for_each_busy([&](const PooledFile& file) {
        promised += file.open->identity.device == device ? file.deposits.held_bytes : 0;
    });
    ensures(promised >= 0, "no file holds less than nothing");
    return promised;
}

bool is_short_of_room(const PoolState& pool_state, const PooledFile& file, std::int64_t room) {
    // The free space is unknown, or more than the pool can ever promise: no need to count.
    if (room < 0 || room > pool_state.options.cap_bytes + room_margin_bytes) {
        return false;
    }
    return promised_on(pool_state, file.open->identity.device) + room_margin_bytes > room;
}

RoomLook begin_look(const PoolState& pool_state) {
    return {.began_ns = pool_state.now_ns(), .drained_bytes = pool_state.counts.drained_bytes};
}

void note_room(PoolState& pool_state, PooledFile& file, const RoomLook& look) {
    file.room.look = look;
    RoomLeft left = RoomLeft::ample;
    if (is_limited(pool_state, look.room)) {
        left = fits(pool_state, file) ? RoomLeft::limited : RoomLeft::scarce;
    }
    pool_state.files.slot_of(file).room.store(left, std::memory_order_relaxed);
}

RoomEstimate arrival_of(PoolState& pool_state, const PooledFile& file, std::int64_t since_ns) {
    const FileSlot& slot = pool_state.files.slot_of(file);
    if (slot.room.load(std::memory_order_relaxed) == RoomLeft::scarce ||
        pool_state.files.state_of(file) != FileState::pooled || file.deposits.held_bytes == 0) {
        return RoomEstimate::must_drain;
    }
    const RoomLook& look = file.room.look;
    const bool is_new = look.began_ns != never_ns && look.began_ns >= since_ns;
    const bool has_room = !is_limited(pool_state, look.room) || fits(pool_state, file);
    return is_new && has_room ? RoomEstimate::has_room : RoomEstimate::must_look;
}

bool room_may_come(const PoolState& pool_state, const PooledFile& file, std::int64_t since_ns) {
    const std::uint64_t device = file.open->identity.device;
    if (pool_state.background.closing_on(device)) {
        return true;
    }
    return pool_state.files.any_busy([&](const PooledFile& other) {
        if (&other == &file || !other.opens.by_client.empty() ||
            other.open->identity.device != device) {
            return false;
        }
        // If other nodes may have the file open, it is drained whether it has a name or not.
        const bool may_have_no_name =
            !pool_state.options.shared &&
            (other.lifecycle.name_asked_ns < since_ns || other.background_task);
        return other.deposits.held_bytes == 0 || may_have_no_name;
    });
}

bool hopes_for_room(const PoolState& pool_state, PooledFile& file) {
    if (!is_for_want_of_room(file.flush.pass.error)) {
        return false;
    }
    const std::int64_t now = pool_state.now_ns();
    if (file.room.short_since_ns == never_ns) {
        file.room.short_since_ns = now;
        return true;
    }
    return now - file.room.short_since_ns < hope_ns_max &&
           room_may_come(pool_state, file, file.room.short_since_ns);
}

}  // namespace forebay::pool
