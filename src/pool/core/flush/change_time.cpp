// Keeps FileSlot::stamped_ns and changed_ns. On file systems of a server nobody looks, before the
// pool changes a file, whether others have changed it: that would cost a request each time.
#include "pool/core/flush/change_time.hpp"

#include "foundation/base/atomics.hpp"

#include <algorithm>

namespace forebay::pool {

void note_changing(PoolState& pool_state, PooledFile& file) {
    FileSlot& slot = pool_state.files.slot_of(file);
    const std::int64_t stamped = slot.stamped_ns.load(relaxed);
    if (stamped == ChangeTime::unsettled) {
        return;
    }
    if (file.open->local) {
        const auto now = file.open->control->stamp();
        if (now && now->changed_ns != stamped) {
            slot.changed_ns.store(std::max(slot.changed_ns.load(relaxed), now->changed_ns),
                                  relaxed);
        }
    }
    slot.stamped_ns.store(ChangeTime::unsettled, std::memory_order_release);
}

void note_changed(PoolState& pool_state, PooledFile& file, const std::optional<ChangeStamp>& stamp,
                  std::int64_t modified_ns) {
    FileSlot& slot = pool_state.files.slot_of(file);
    slot.changed_ns.store(std::max(slot.changed_ns.load(relaxed), modified_ns), relaxed);
    slot.stamped_ns.store(stamp ? stamp->changed_ns : 0, std::memory_order_release);
}

void note_own_change(PoolState& pool_state, PooledFile& file) {
    pool_state.files.slot_of(file).stamped_ns.store(0, std::memory_order_release);
}

void recall_change_time(Directory& directory, FileSlot& slot) {
    const std::uint64_t device = slot.device.load(relaxed);
    const std::uint64_t inode = slot.inode.load(relaxed);
    const ChangeTime& one = directory.change_times[change_time_place(device, inode)];
    const bool known = one.version.load(relaxed) != 0 && one.device.load(relaxed) == device &&
                       one.inode.load(relaxed) == inode;
    slot.changed_ns.store(known ? one.changed_ns.load(relaxed) : 0, relaxed);
    slot.stamped_ns.store(known ? one.stamped_ns.load(relaxed) : 0, std::memory_order_release);
}

void remember_change_time(Directory& directory, const FileSlot& slot) {
    const std::int64_t stamped = slot.stamped_ns.load(relaxed);
    if (stamped <= 0) {
        return;
    }
    const std::uint64_t device = slot.device.load(relaxed);
    const std::uint64_t inode = slot.inode.load(relaxed);
    ChangeTime& one = directory.change_times[change_time_place(device, inode)];
    // Behind the fence, since nothing else keeps the stores below from being seen before this one.
    one.version.fetch_add(1, relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    one.device.store(device, relaxed);
    one.inode.store(inode, relaxed);
    one.stamped_ns.store(stamped, relaxed);
    one.changed_ns.store(slot.changed_ns.load(relaxed), relaxed);
    one.version.fetch_add(1, std::memory_order_release);
}

}  // namespace forebay::pool
