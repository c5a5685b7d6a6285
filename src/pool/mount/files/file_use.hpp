// State of a regular file in the mount, beside its inode: open handles, owners of POSIX locks, and
// whether its bytes go into the pool.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "pool/client/daemon.hpp"
#include "pool/client/readahead/read_ahead_policy.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <sys/types.h>

namespace forebay::mount {

// The POSIX locks of one owner: they are held by an open file description (OFD locks) of the file
// below.
struct LockOwner {
    OwnFd fd;
    pid_t process = 0;  // reported by F_GETLK
};

struct FileUse {
    std::mutex mutex;  // protects all members that are not atomic
    std::uint32_t handles = 0;
    std::map<std::uint64_t, LockOwner> locks;

    // The file's slot in the daemon's directory plus 1, and the slot's generation, in one word; 0:
    // the daemon never knew the file. Kept after the last handle is closed: until the file is
    // drained, the pool has bytes that the file system lacks.
    std::atomic<std::uint64_t> file_word = 0;
    std::uint32_t introductions = 0;  // opens for which the daemon awaits a close
    bool aside = false;  // no deposits until the last close: it is mapped, or synced all the time
    std::atomic<bool> pooled = false;        // the daemon knows the file, and writes are deposits
    std::atomic<bool> writes_known = false;  // the daemon knows that the mount writes to the file
    // Set-id bits and file capabilities were cleared, and no change of attributes has come since.
    std::atomic<bool> unprivileged = false;
    std::atomic<std::int64_t> size = 0;     // file size with deposits, while `pooled`
    std::atomic<std::int64_t> written = 0;  // bytes written since the first open
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

// An open file of the mount, with its descriptor of the file below.
struct OpenHandle {
    OwnFd fd;
    int flags = 0;
    bool deposited = false;  // it has written deposits, so a close reports errors
    // Owners that took POSIX locks by this handle. If it is read-only, the kernel sends no FLUSH at
    // a close, so their locks are dropped at RELEASE.
    std::mutex mutex;
    std::map<std::uint64_t, bool> lockers;
};

}  // namespace forebay::mount
