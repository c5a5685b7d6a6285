// Adds deposits to stat's answer. This matters, for example, to tar: it takes a file with a length
// but no blocks for one hole, and reports a file whose st_ctime changes as being modified.
#include "foundation/base/atomics.hpp"
#include "pool/mount/files/pool_route.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

namespace forebay::mount {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t sector = 512;  // the unit of st_blocks

std::int64_t nanoseconds_of(const timespec& time) noexcept {
    return time.tv_sec * second_ns + time.tv_nsec;
}
timespec time_of(std::int64_t ns) noexcept { return {ns / second_ns, ns % second_ns}; }

struct SlotTimes {
    std::int64_t modified_ns = 0;
    std::int64_t stamped_ns = 0;
    std::int64_t changed_ns = 0;
};

SlotTimes times_in(const pool::FileSlot& slot) noexcept {
    SlotTimes times;
    times.modified_ns = slot.modified_ns.load(relaxed);
    times.stamped_ns = slot.stamped_ns.load(std::memory_order_acquire);
    times.changed_ns = slot.changed_ns.load(relaxed);
    return times;
}

// Whether the file system's ctime is that of the pool's draining.
bool is_ours(const SlotTimes& times, std::int64_t found_ns) noexcept {
    const bool settled = times.stamped_ns != 0 && times.stamped_ns == found_ns;
    return settled || (times.modified_ns != 0 && times.stamped_ns == pool::ChangeTime::unsettled);
}

void set_times(const SlotTimes& before, const SlotTimes& after, struct stat& status) noexcept {
    if (before.modified_ns != 0) {
        status.st_mtim = time_of(before.modified_ns);
    }
    const std::int64_t found = nanoseconds_of(status.st_ctim);
    const bool ours = is_ours(before, found) || is_ours(after, found);
    status.st_ctim = time_of(ours ? std::max({before.modified_ns, before.changed_ns,
                                              after.modified_ns, after.changed_ns})
                                  : std::max(found, before.modified_ns));
}

// The times that the directory still has of a file that the pool has drained and forgotten.
SlotTimes remembered_times(const pool::Directory& directory, const struct stat& status) noexcept {
    const pool::ChangeTime& one =
        directory.change_times[pool::change_time_place(status.st_dev, status.st_ino)];
    const std::uint64_t version = one.version.load(std::memory_order_acquire);
    const bool same =
        one.device.load(relaxed) == status.st_dev && one.inode.load(relaxed) == status.st_ino;
    const SlotTimes times{.stamped_ns = one.stamped_ns.load(relaxed),
                          .changed_ns = one.changed_ns.load(relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool whole = version % 2 == 0 && one.version.load(relaxed) == version;
    return version != 0 && same && whole ? times : SlotTimes{};
}

}  // namespace

void PoolRoute::add(const FileUse& use, int fd, struct stat& status) {
    if (link_ == nullptr || !S_ISREG(status.st_mode)) {
        return;
    }
    const pool::FileSlot* const slot = slot_of(use);
    if (slot == nullptr) {
        const SlotTimes times = remembered_times(link_->directory(), status);
        set_times(times, times, status);
        return;
    }
    const PoolLink::Reading reading{*link_};
    const std::int64_t size = link_->reader().deposited_size(use.file());
    const SlotTimes before = times_in(*slot);
    const std::int64_t held = slot->taken.load(relaxed) - slot->drained.load(relaxed);
    // Asks the file system once more, so that bytes drained meanwhile are not missed.
    if (size < 0 || slot_of(use) != slot ||
        ::fstatat(fd, "", &status, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    status.st_size = std::max<off_t>(status.st_size, size);
    const std::int64_t whole =
        (status.st_size + status.st_blksize - 1) / status.st_blksize * status.st_blksize / sector;
    status.st_blocks = std::min<blkcnt_t>(status.st_blocks + (held + sector - 1) / sector,
                                          std::max<blkcnt_t>(status.st_blocks, whole));
    set_times(before, times_in(*slot), status);
}

}  // namespace forebay::mount
