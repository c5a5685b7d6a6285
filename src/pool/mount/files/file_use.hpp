// What the mount knows of a regular file beside its inode: who has it open, whose locks it has, and
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

// The POSIX locks of one owner, which are those of an open file description below.
struct LockOwner {
    OwnFd fd;
    pid_t process = 0;  // for who asks about them
};

struct FileUse {
    std::mutex mutex;  // of all that is not atomic
    std::uint32_t handles = 0;
    std::map<std::uint64_t, LockOwner> locks;

    // The daemon knows the file, as long as its slot has this generation. Kept when the last
    // handle is closed: until it is drained, the pool knows more of it than the file system.
    // Its slot plus one, and its generation, in one word; 0: it never was.
    std::atomic<std::uint64_t> file_word = 0;
    std::uint32_t introductions = 0;  // that have to be taken back
    bool aside = false;  // a mapping, or a program that syncs all the time: no deposits
    std::atomic<bool> pooled = false;        // introduced, and not taken back
    std::atomic<bool> writes_known = false;  // the daemon was told that the mount writes to it
    // Set-id bits and capabilities were cleared since they may last have been set.
    std::atomic<bool> unprivileged = false;
    std::atomic<std::int64_t> size = 0;     // where pooled
    std::atomic<std::int64_t> written = 0;  // bytes, since it was opened first
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

// A descriptor of the mount.
struct OpenHandle {
    OwnFd fd;
    int flags = 0;
    bool deposited = false;  // by the mount's writers; for errors at close
    // Owners that have locked by it and are not told of at close, since it is read-only.
    std::mutex mutex;
    std::map<std::uint64_t, bool> lockers;
};

}  // namespace forebay::mount
