// Where the bytes of a file go: into the pool, or to the file below. A file is made known to the
// daemon once more than a few hundred KiB were written to it, so that small files cost no question;
// or at once, where the pool still has bytes of it.
//
//   below ──(large write, or the pool knows it)──▶ pooled ──(mapped, synced all the time)──▶ aside
//     ▲                                              │                                        │
//     └───────────────── the last descriptor is closed ◀──────────────────────────────────────┘
//
// Writes of one file come one after the other: the kernel holds the inode's lock for each of them.
#pragma once

#include "pool/mount/files/file_use.hpp"
#include "pool/mount/link/pool_link.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>

namespace forebay::mount {

class PoolRoute {
public:
    // Bytes that are written to a file below before it is made known.
    static constexpr std::int64_t small_bytes = std::int64_t{256} << 10;
    // Syncs with less than that between them, after which a file stays aside.
    static constexpr std::uint32_t small_syncs_max = 3;

    // Null: there is no pool.
    explicit PoolRoute(PoolLink* link) noexcept : link_{link} {}

    // A descriptor was opened; `fd` is the one below. Or the last one was closed. An errno, or 0.
    [[nodiscard]] int opened(FileUse& use, const OpenHandle& handle, ino_t inode);
    void closed(FileUse& use);
    // The pool may know of it from before.
    void found(FileUse& use, const struct stat& status);

    struct WriteOrder {
        std::int64_t offset = 0;
        bool appends = false;
        std::span<const std::byte> bytes;
    };
    // Bytes moved, or minus an errno.
    [[nodiscard]] std::int64_t write(FileUse& use, OpenHandle& handle, const WriteOrder& order);
    [[nodiscard]] std::int64_t read(FileUse& use, const OpenHandle& handle, std::int64_t offset,
                                    std::span<std::byte> bytes);
    // The rest of these return an errno, or 0.
    [[nodiscard]] int truncate(FileUse& use, int fd, std::int64_t bytes);
    [[nodiscard]] int sync(FileUse& use, int fd, bool data_only);
    // Deposits are in the file below.
    [[nodiscard]] int drain(FileUse& use);
    // … and the caller then changes the file there, beside its bytes.
    [[nodiscard]] int before_change(FileUse& use);
    // Deposits are in the file below, and there will be none until the last descriptor is closed.
    [[nodiscard]] int step_aside(FileUse& use, pool::ThroughReason reason);
    // Whether what was deposited arrives, as far as is known.
    [[nodiscard]] int arrives(FileUse& use);
    // Adds what the pool has to what the file system says.
    void add(const FileUse& use, int fd, struct stat& status);

private:
    [[nodiscard]] const pool::FileSlot* slot_of(const FileUse& use) const noexcept;
    [[nodiscard]] int introduce(FileUse& use, int fd, int flags, ino_t inode);
    [[nodiscard]] bool may_pool(const FileUse& use, const OpenHandle& handle) const noexcept;
    [[nodiscard]] std::int64_t write_below(FileUse& use, OpenHandle& handle,
                                           const WriteOrder& order);
    [[nodiscard]] std::int64_t deposit(FileUse& use, OpenHandle& handle, const WriteOrder& order);
    [[nodiscard]] int ask(const FileUse& use, protocol::ClientQuestion question);
    [[nodiscard]] bool leaves_nothing(const FileUse& use) noexcept;

    PoolLink* link_;
};

}  // namespace forebay::mount
