// Decides where the bytes of a file go: into the pool, or to the file below the mount. A file
// becomes known to the daemon after 256 KiB were written to it, so that small files cost no
// messages; or at once, if the pool still has bytes of it from before.
//
//   below ──(large write, or the pool knows it)──▶ pooled ──(mapped, synced all the time)──▶ aside
//     ▲                                              │                                        │
//     └───────────────── the last descriptor is closed ◀──────────────────────────────────────┘
//
// Writes to one file do not run concurrently: the kernel holds the inode's lock for each of them.
#pragma once

#include "pool/mount/files/file_use.hpp"
#include "pool/mount/link/pool_link.hpp"
#include "tier/live/live_tier.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <utility>

namespace forebay::mount {

class PoolRoute {
public:
    // Bytes written to a file below before it becomes known to the daemon.
    static constexpr std::int64_t small_bytes = std::int64_t{256} << 10;
    // Number of consecutive syncs with fewer than small_bytes written between them, after which a
    // file stays aside.
    static constexpr std::uint32_t small_syncs_max = 3;

    // `link` is null if there is no pool.
    explicit PoolRoute(PoolLink* link) noexcept : link_{link} {}
    // Files below may have replicas. Called before any request.
    void use_tier(tier::LiveTier& tier) noexcept { tier_ = &tier; }
    // `room_comes` is called when the file system below is full: it waits for files that are closed
    // and unlinked. True: a write is worth another try.
    void use_room(std::function<bool()> room_comes) { room_comes_ = std::move(room_comes); }
    // To be called after a file has lost a name.
    void note_unlinked() noexcept;

    // A handle was opened, or was closed (the last one ends the file's use of the pool). Returns 0
    // or an errno.
    [[nodiscard]] int opened(FileUse& use, const OpenHandle& handle, ino_t inode);
    void closed(FileUse& use, OpenHandle& handle);
    // The kernel has forgotten the file: nobody opens it again without its name.
    void forgotten(FileUse& use);
    // A file was looked up for the first time: the daemon may know it from before. `status` is the
    // file system's, of the O_PATH descriptor `fd`, and is asked for once more.
    void found(FileUse& use, int fd, struct stat& status);

    struct WriteOrder {
        std::int64_t offset = 0;
        bool appends = false;
        std::span<const std::byte> bytes;
    };
    // Returns bytes moved, or minus an errno.
    // Precondition of writes: none of the same file is under way.
    [[nodiscard]] std::int64_t write(FileUse& use, OpenHandle& handle, const WriteOrder& order);
    [[nodiscard]] std::int64_t read(FileUse& use, const OpenHandle& handle, std::int64_t offset,
                                    std::span<std::byte> bytes);
    // The rest return 0 or an errno.
    [[nodiscard]] int truncate(FileUse& use, int fd, std::int64_t bytes);
    [[nodiscard]] int sync(FileUse& use, int fd, bool data_only);
    // All deposits are in the file below afterwards.
    [[nodiscard]] int drain(FileUse& use);
    // drain(), before the caller changes the file's attributes below.
    [[nodiscard]] int before_change(FileUse& use);
    // drain(), and no deposits from then on until the last handle is closed.
    [[nodiscard]] int step_aside(FileUse& use, pool::ThroughReason reason);
    // Whether it is so.
    [[nodiscard]] bool is_aside(FileUse& use);
    // Sets the write-behind window of a file that the daemon knows, in bytes.
    [[nodiscard]] int limit_window(FileUse& use, std::uint64_t bytes);
    // The result of close(): whether deposits are expected to reach the file system.
    [[nodiscard]] int arrives(FileUse& use);
    // Adds the pool's size, times and blocks to the file system's `status` of `fd`. Returns 0, or
    // EIO if the daemon is dead and deposits are missing in `status`.
    [[nodiscard]] int add(const FileUse& use, int fd, struct stat& status);

    // Lets captured programs deposit to the file, and read deposits, until the handle is closed:
    // the daemon knows the file. Returns 0, or EBUSY if they have to go through the mount.
    [[nodiscard]] int begin_capture(FileUse& use, OpenHandle& handle);
    // step_aside(), if captured programs may write to the file: what follows cannot be ordered with
    // their deposits. Precondition: there is a CaptureBan. Returns 0 or an errno.
    [[nodiscard]] int make_way(FileUse& use, pool::ThroughReason reason);

private:
    // The file's slot, while it is the same file; null otherwise.
    [[nodiscard]] const pool::FileSlot* slot_of(const FileUse& use) const noexcept;
    // Has the daemon drain the file; `flags` are those of the question. Returns 0 or an errno.
    [[nodiscard]] int drain(FileUse& use, std::uint32_t flags);
    // Makes the file known to the daemon. Returns 0 or an errno.
    [[nodiscard]] int introduce(FileUse& use, int fd, int flags, ino_t inode);
    // Whether writes by this handle may become deposits.
    [[nodiscard]] bool may_pool(const FileUse& use, const OpenHandle& handle) const noexcept;
    [[nodiscard]] bool may_have_unlinked_file(std::int64_t since_ns) const noexcept;
    template <class Attempt>
    [[nodiscard]] ssize_t with_room(const Attempt& attempt) const;
    // Writes to the file below. Returns bytes, or minus an errno.
    [[nodiscard]] std::int64_t write_below(FileUse& use, OpenHandle& handle, const WriteOrder& all);
    // Writes to the pool, and the rest below if the file leaves it meanwhile. Returns as
    // write_below().
    [[nodiscard]] std::int64_t deposit(FileUse& use, OpenHandle& handle, const WriteOrder& order);
    // stat of an O_PATH descriptor. False: it fails.
    [[nodiscard]] static bool stat_again(int fd, struct stat& status) noexcept;
    // A handle is gone; `fd` is of the file. Precondition: the caller holds the file's mutex.
    void let_go(FileUse& use, int fd);
    // Tells the daemon that the file is closed. Precondition: as let_go().
    void end_introductions(FileUse& use);
    [[nodiscard]] bool count_capture(FileUse& use, OpenHandle& handle);
    void end_capture(FileUse& use, OpenHandle& handle) noexcept;
    [[nodiscard]] bool is_pooled_there(const FileUse& use) const noexcept;
    // The size at which an append goes on, or minus an errno.
    [[nodiscard]] std::int64_t append_size(FileUse& use, int fd);
    // Bytes that programs have written to the file.
    [[nodiscard]] std::int64_t written_by_all(const FileUse& use) const noexcept;
    // Whether the write goes into the pool; makes the file known to the daemon if it is due.
    [[nodiscard]] bool begins_to_pool(FileUse& use, OpenHandle& handle, const WriteOrder& order);
    // write(), while no captured program can change where the file ends.
    [[nodiscard]] std::int64_t write_in_order(FileUse& use, OpenHandle& handle,
                                              const WriteOrder& order);
    // Has the file leave the pool until its last handle is closed. Returns 0 or an errno.
    [[nodiscard]] int leave(FileUse& use, pool::ThroughReason reason);
    // Asks the daemon about the file. Returns 0 or an errno.
    [[nodiscard]] int ask(const FileUse& use, protocol::ClientQuestion question);

    PoolLink* link_;
    tier::LiveTier* tier_ = nullptr;
    std::function<bool()> room_comes_;
    std::atomic<std::int64_t> unlinked_ns_ = INT64_MIN / 2;
};

}  // namespace forebay::mount
