// Handlers of READ, WRITE, FSYNC, FALLOCATE, LSEEK and COPY_FILE_RANGE.
#include "foundation/base/own_fd.hpp"
#include "pool/mount/serving/operations.hpp"
#include "pool/mount/tier/tiered_files.hpp"
#include "tier/live/fast_errors.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace forebay::mount {

namespace {

// For a request that fills a page of a mapping (it has no lock owner), or writes one back: the
// kernel writes pages back whenever it likes, so the file gets no more deposits.
int settle_for_mapping(const FuseRequest& asked, MountedInode& inode) {
    return asked.server.route().step_aside(inode.use, pool::ThroughReason::mapped);
}

// Small requests of a replica take no time, so that the thread goes on leading; large ones are
// copied by several threads. All others of a tier may wait for a server.
constexpr std::size_t led_bytes_max = std::size_t{32} << 10;

void lead_or_pass_on(const FuseRequest& asked, const OpenHandle& handle, std::size_t bytes) {
    const bool has_replica = handle.tiered && handle.tiered->descriptor() >= 0;
    if (asked.server.tier() != nullptr && !(has_replica && bytes <= led_bytes_max)) {
        asked.server.lead().pass_on();
    }
}

int read(const FuseRequest& asked, fuse_ino_t number, std::size_t bytes, off_t offset,
         fuse_file_info* file) {
    MountedInode& inode = asked.inode(number);
    lead_or_pass_on(asked, open_handle(file), bytes);
    if (file->lock_owner == 0) {
        if (const int error = settle_for_mapping(asked, inode); error != 0) {
            return error;
        }
    }
    // Not initialised: most of it is overwritten at once.
    const std::unique_ptr<std::byte[]> room{new std::byte[bytes]};
    const std::int64_t got =
        asked.server.route().read(inode.use, open_handle(file), offset, {room.get(), bytes});
    if (got < 0) {
        return static_cast<int>(-got);
    }
    fuse_reply_buf(asked.request, reinterpret_cast<const char*>(room.get()),
                   static_cast<std::size_t>(got));
    return replied;
}

int write(const FuseRequest& asked, fuse_ino_t number, const char* from, std::size_t bytes,
          off_t offset, fuse_file_info* file) {
    MountedInode& inode = asked.inode(number);
    PoolRoute::WriteOrder order{.offset = offset,
                                .bytes = {reinterpret_cast<const std::byte*>(from), bytes}};
    if (file->writepage != 0) {
        if (const int error = settle_for_mapping(asked, inode); error != 0) {
            return error;
        }
    } else {
        order.appends = (file->flags & O_APPEND) != 0;
    }
    OpenHandle& handle = open_handle(file);
    // A sync takes long, and so does the first write after a change of attributes.
    const bool takes_long =
        (file->flags & O_DSYNC) != 0 || !inode.use.unprivileged.load(std::memory_order_relaxed);
    lead_or_pass_on(asked, handle, takes_long ? SIZE_MAX : bytes);
    const std::int64_t moved = asked.server.route().write(inode.use, handle, order);
    if (moved < 0) {
        return static_cast<int>(-moved);
    }
    // RWF_DSYNC. If the file was opened with O_DSYNC, its descriptor below has that, too.
    if ((file->flags & ~handle.flags & O_DSYNC) != 0) {
        const tier::FastResult fast = sync_tiered(asked.server.tier(), handle, true);
        const int error =
            fast.to_file ? asked.server.route().sync(inode.use, handle.fd.get(), true) : fast.error;
        if (error != 0) {
            return error;
        }
    }
    fuse_reply_write(asked.request, static_cast<std::size_t>(moved));
    return replied;
}

int fsync(const FuseRequest& asked, fuse_ino_t number, int data_only, fuse_file_info* file) {
    const OpenHandle& handle = open_handle(file);
    const tier::FastResult fast = sync_tiered(asked.server.tier(), handle, data_only != 0);
    return !fast.to_file ? fast.error
                         : asked.server.route().sync(asked.inode(number).use, handle.fd.get(),
                                                     data_only != 0);
}

int fallocate(const FuseRequest& asked, fuse_ino_t number, int mode, off_t offset, off_t bytes,
              fuse_file_info* file) {
    const int error =
        asked.server.route().step_aside(asked.inode(number).use, pool::ThroughReason::asked);
    if (error != 0) {
        return error;
    }
    const OpenHandle& handle = open_handle(file);
    if (handle.tiered) {
        const tier::FastResult fast =
            asked.server.tier()->allocate(*handle.tiered, mode, offset, bytes);
        if (!fast.to_file) {
            return fast.error;
        }
    }
    return asked.server.with_room_below(
        [&] { return errno_of_call(::fallocate(handle.fd.get(), mode, offset, bytes)); });
}

int lseek(const FuseRequest& asked, fuse_ino_t number, off_t offset, int whence,
          fuse_file_info* file) {
    if (const int error = asked.server.route().drain(asked.inode(number).use); error != 0) {
        return error;
    }
    const off_t at = with_backing(asked.server.tier(), open_handle(file),
                                  [&](int fd) { return ::lseek(fd, offset, whence); });
    if (at < 0) {
        return errno;
    }
    fuse_reply_lseek(asked.request, at);
    return replied;
}

int copy_file_range(const FuseRequest& asked, fuse_ino_t from_number, off_t from_offset,
                    fuse_file_info* from, fuse_ino_t to_number, off_t to_offset, fuse_file_info* to,
                    std::size_t bytes, int flags) {
    int error = asked.server.route().drain(asked.inode(from_number).use);
    if (error == 0) {
        error = asked.server.route().step_aside(asked.inode(to_number).use,
                                                pool::ThroughReason::copied);
    }
    if (error == 0) {
        error = prepare_tiered(asked.server.tier(), open_handle(to));
    }
    ssize_t moved = 0;
    for (int before = -1; error == 0 && before != open_handle(to).backing();) {
        before = open_handle(to).backing();
        off_t here = from_offset;
        off_t there = to_offset;
        moved = ::copy_file_range(open_handle(from).backing(), &here, before, &there, bytes,
                                  static_cast<unsigned>(flags));
        // The replica may have been moved, or evicted, meanwhile.
        error = moved <= 0 ? 0 : prepare_tiered(asked.server.tier(), open_handle(to));
    }
    if (error != 0) {
        return error;
    }
    if (moved < 0) {
        // The kernel then copies by READ and WRITE, which know what to do where fast storage fails.
        return open_handle(to).tiered && tier::is_of_fast_place(errno) ? EXDEV : errno;
    }
    fuse_reply_write(asked.request, static_cast<std::size_t>(moved));
    return replied;
}

}  // namespace

void add_data_operations(fuse_lowlevel_ops& table) {
    table.read = &answer<&read, fuse_ino_t, std::size_t, off_t, fuse_file_info*>;
    table.write = &answer<&write, fuse_ino_t, const char*, std::size_t, off_t, fuse_file_info*>;
    table.fsync = &answer<&fsync, fuse_ino_t, int, fuse_file_info*>;
    table.fallocate = &answer<&fallocate, fuse_ino_t, int, off_t, off_t, fuse_file_info*>;
    table.lseek = &answer<&lseek, fuse_ino_t, off_t, int, fuse_file_info*>;
    table.copy_file_range = &answer<&copy_file_range, fuse_ino_t, off_t, fuse_file_info*,
                                    fuse_ino_t, off_t, fuse_file_info*, std::size_t, int>;
}

}  // namespace forebay::mount
