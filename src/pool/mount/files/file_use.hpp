// State of a regular file in the mount, beside its inode: open handles, owners of POSIX locks, and
// whether its bytes go into the pool.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "pool/client/daemon.hpp"
#include "pool/client/readahead/read_ahead_policy.hpp"
#include "tier/live/live_file.hpp"

#include <atomic>
#include <cstdint>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <sys/types.h>

namespace forebay::mount {

// The POSIX locks of one owner: they are held by an open file description (OFD locks) of the file
// below.
struct LockOwner {
    // Owned by this entry and by the requests of this owner that are under way: a close by another
    // thread of the process (FLUSH) drops the locks meanwhile.
    std::shared_ptr<const OwnFd> fd{};
    pid_t process = 0;  // reported by F_GETLK
};

struct FileUse {
    // The owner has closed a descriptor of the file: it has no locks any more.
    void drop_locks(std::uint64_t owner);

    // Held shared by a write to the file below while the daemon does not know the file, and alone
    // by whoever makes it known for a captured program: so none is under way then. Taken before
    // `mutex`.
    std::shared_mutex below_gate;
    std::mutex mutex;  // protects all members that are not atomic
    std::uint32_t handles = 0;
    std::map<std::uint64_t, LockOwner> locks;

    // The file's slot in the daemon's directory plus 1, and the slot's generation, in one word; 0:
    // the daemon never knew the file. Kept after the last handle is closed: until the file is
    // drained, the pool has bytes that the file system lacks.
    std::atomic<std::uint64_t> file_word = 0;
    // Opens for which the daemon awaits a close: without handles, of a file that has no name.
    std::uint32_t introductions = 0;
    bool aside = false;  // no deposits until the last close: it is mapped, or synced all the time
    std::atomic<bool> pooled = false;        // the daemon knows the file, and writes are deposits
    std::atomic<bool> writes_known = false;  // the daemon knows that the mount writes to the file
    // Set-id bits and file capabilities were cleared, and no change of attributes has come since.
    std::atomic<bool> unprivileged = false;
    std::atomic<std::int64_t> size = 0;     // file size with deposits, while `pooled`
    std::atomic<std::int64_t> written = 0;  // bytes written since the first open
    // Handles by which captured programs may write. While there are any, the kernel remembers no
    // attributes of the file.
    std::atomic<std::uint32_t> captured_writers = 0;
    std::atomic<std::uint32_t> capture_bans = 0;  // see CaptureBan
    std::atomic<bool> size_known = true;  // `size` counts what captured programs have written
    std::uint32_t small_syncs = 0;
    std::int64_t written_at_sync = 0;
    pool::ReadAheadPolicy guess;

    [[nodiscard]] bool known() const noexcept {
        return file_word.load(std::memory_order_acquire) != 0;
    }
    [[nodiscard]] pool::FileId file() const noexcept {
        const std::uint64_t word = file_word.load(std::memory_order_acquire);
        return {.slot = static_cast<std::uint32_t>(word) - 1,
                .generation = static_cast<std::uint32_t>(word >> 32U)};
    }
    void set_file(const pool::FileId& id) noexcept {
        file_word.store(std::uint64_t{id.generation} << 32U | (id.slot + 1),
                        std::memory_order_release);
    }
};

// As long as it exists, no captured program begins to write to the file. There may be some already:
// who makes one looks at captured_writers afterwards, and begin_capture() looks at capture_bans
// after it has counted itself, so that one of the two sees the other.
class CaptureBan {
public:
    explicit CaptureBan(FileUse& use) noexcept : bans_{use.capture_bans} {
        bans_.fetch_add(1, std::memory_order_seq_cst);
    }
    CaptureBan(const CaptureBan&) = delete;
    CaptureBan& operator=(const CaptureBan&) = delete;
    ~CaptureBan() { bans_.fetch_sub(1, std::memory_order_seq_cst); }

private:
    std::atomic<std::uint32_t>& bans_;
};

// An open file of the mount, with its descriptor of the file below.
struct OpenHandle {
    [[nodiscard]] bool writes() const noexcept { return (flags & O_ACCMODE) != O_RDONLY; }

    OwnFd fd;
    int flags = 0;
    std::shared_ptr<tier::LiveFile> tiered{};  // null: there is no tier
    // The descriptor that reads go to: of the replica, if the file has one.
    [[nodiscard]] int backing() const noexcept {
        const int replica = tiered ? tiered->descriptor() : -1;
        return replica >= 0 ? replica : fd.get();
    }
    // It has written deposits, or a captured program may have by it, so a close reports errors.
    std::atomic<bool> deposited = false;
    bool captured = false;  // counted in captured_writers; protected by the file's mutex
    // Owners that took POSIX locks by this handle. If it is read-only, the kernel sends no FLUSH at
    // a close, so their locks are dropped at RELEASE.
    std::mutex mutex;
    std::map<std::uint64_t, bool> lockers;
};

}  // namespace forebay::mount
