// Handlers of OPEN, CREATE, FLUSH and RELEASE. Each open file of the mount has its own open file
// description below, so that flock() has the same meaning there.
#include "pool/mount/serving/operations.hpp"
#include "pool/mount/tier/tiered_files.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

namespace {

// O_APPEND is done for each write, and O_DIRECT's alignment concerns the program's memory, not
// ours.
int flags_below(int flags) noexcept {
    constexpr int not_below = O_APPEND | O_DIRECT | O_NOFOLLOW | O_CREAT | O_EXCL | O_NOCTTY;
    return (flags & ~not_below) | O_CLOEXEC | O_NONBLOCK;
}

void set_reply(fuse_file_info& file, OpenHandle& handle) noexcept {
    file.fh = reinterpret_cast<std::uint64_t>(&handle);
    file.direct_io = 1;
    // Without FLUSH a close is not reported here. A file open for writing needs it, to return
    // errors of deposits.
    file.noflush = handle.writes() ? 0 : 1;
}

// A handle that the kernel has not got, or has closed.
void let_go(const FuseRequest& asked, MountedInode& inode, OpenHandle& handle) {
    asked.server.route().closed(inode.use, handle);
    if (asked.server.tier() != nullptr) {
        close_tiered(*asked.server.tier(), handle);
    }
}

// O_TRUNC, which a file may be opened with to be read, too. Returns 0 or an errno.
int empty(PoolRoute& route, MountedInode& inode, const OpenHandle& handle) {
    if (handle.writes()) {
        return route.truncate(inode.use, handle.fd.get(), 0);
    }
    const OwnFd writable{
        ::open(DescriptorName{inode.path.get()}.text(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
    return writable.valid() ? route.truncate(inode.use, writable.get(), 0) : errno;
}

// Counts the handle, and truncates the file (O_TRUNC) in order with its deposits. Returns 0 or an
// errno.
int opened(const FuseRequest& asked, MountedInode& inode, OpenHandle& handle, bool empties) {
    PoolRoute& route = asked.server.route();
    int error = route.opened(inode.use, handle, inode.key.inode);
    if (error == 0 && asked.server.tier() != nullptr) {
        error = open_tiered(*asked.server.tier(), inode, handle, empties);
        if (error != 0) {
            route.closed(inode.use, handle);
        }
    } else if (error == 0 && empties) {
        error = empty(route, inode, handle);
        if (error != 0) {
            route.closed(inode.use, handle);
        }
    }
    return error;
}

int open(const FuseRequest& asked, fuse_ino_t number, fuse_file_info* file) {
    MountedInode& inode = asked.inode(number);
    auto handle = std::make_unique<OpenHandle>();
    handle->flags = file->flags;
    const bool empties = (file->flags & O_TRUNC) != 0;
    const auto open_it = [&] {
        handle->fd = OwnFd{
            ::open(DescriptorName{inode.path.get()}.text(), flags_below(file->flags) & ~O_TRUNC)};
        return handle->fd.valid() ? opened(asked, inode, *handle, empties) : errno;
    };
    int failed = open_it();
    if (failed == EMFILE) {
        asked.server.lead().pass_on();
        failed = asked.server.trimmer().with_room(open_it);
    }
    if (failed != 0) {
        return failed;
    }
    set_reply(*file, *handle);
    if (fuse_reply_open(asked.request, file) == -ENOENT) {  // the caller was interrupted
        let_go(asked, inode, *handle);
    } else {
        static_cast<void>(handle.release());
    }
    return replied;
}

// Opens or creates a file with the identity of the caller.
OwnFd open_or_create(const FuseRequest& asked, fuse_ino_t parent, const char* name, mode_t mode,
                     int flags) {
    const int folder = asked.inode(parent).path.get();
    const CallerIdentity caller{*fuse_req_ctx(asked.request), asked.server.by_root(), folder, mode};
    if (std::strcmp(name, tmpfile_name) == 0) {
        const int excludes = flags & O_EXCL;  // O_EXCL: it cannot be linked to a name later
        return OwnFd{::openat(folder, ".", flags_below(flags) | O_TMPFILE | excludes, mode)};
    }
    return OwnFd{
        ::openat(folder, name, flags_below(flags) | O_CREAT | O_NOFOLLOW | (flags & O_EXCL), mode)};
}

int create(const FuseRequest& asked, fuse_ino_t parent, const char* name, mode_t mode,
           fuse_file_info* file) {
    auto handle = std::make_unique<OpenHandle>();
    handle->flags = file->flags;
    OwnFd spare;  // so that what was made does not fail for lack of a second descriptor
    int error = asked.server.with_room_below([&] {
        spare = OwnFd{::fcntl(asked.inode(parent).path.get(), F_DUPFD_CLOEXEC, 0)};
        if (!spare.valid()) {
            return errno;
        }
        handle->fd = open_or_create(asked, parent, name, mode, file->flags & ~O_TRUNC);
        return handle->fd.valid() ? 0 : errno;
    });
    if (error != 0) {
        const pid_t caller = fuse_req_ctx(asked.request)->pid;
        return error == EMFILE && asked.server.trimmer().comes_again({caller, parent, name})
                   ? ESTALE
                   : error;
    }
    asked.server.trimmer().has_come({fuse_req_ctx(asked.request)->pid, parent, name});
    spare = OwnFd{};
    OwnFd path{::open(DescriptorName{handle->fd.get()}.text(), O_PATH | O_CLOEXEC)};
    fuse_entry_param entry{};
    error = path.valid() ? fill_entry(asked.server, std::move(path), AnswerOrder::unordered, entry)
                         : errno;
    if (error != 0) {
        return error;
    }
    MountedInode& inode = asked.inode(entry.ino);
    const bool empties = (file->flags & O_TRUNC) != 0 && entry.attr.st_size > 0;
    error = opened(asked, inode, *handle, empties);
    if (error == 0 && empties) {
        error = status_of(asked.server, inode, entry.attr);
    }
    if (error != 0) {
        asked.server.forget(inode, 1);
        return error;
    }
    set_reply(*file, *handle);
    if (fuse_reply_create(asked.request, &entry, file) == -ENOENT) {
        let_go(asked, inode, *handle);
        asked.server.forget(inode, 1);
    } else {
        static_cast<void>(handle.release());
    }
    return replied;
}

// FLUSH: one of the descriptors that share the handle was closed.
int flush(const FuseRequest& asked, fuse_ino_t number, fuse_file_info* file) {
    MountedInode& inode = asked.inode(number);
    inode.use.drop_locks(file->lock_owner);
    return open_handle(file).deposited.load(std::memory_order_relaxed)
               ? asked.server.route().arrives(inode.use)
               : 0;
}

int release(const FuseRequest& asked, fuse_ino_t number, fuse_file_info* file) {
    MountedInode& inode = asked.inode(number);
    const std::unique_ptr<OpenHandle> gone{&open_handle(file)};
    for (const auto& [owner, locked] : gone->lockers) {
        inode.use.drop_locks(owner);
    }
    let_go(asked, inode, *gone);
    return 0;
}

}  // namespace

void add_handle_operations(fuse_lowlevel_ops& table) {
    table.open = &answer<&open, fuse_ino_t, fuse_file_info*>;
    table.create = &answer<&create, fuse_ino_t, const char*, mode_t, fuse_file_info*>;
    table.flush = &answer<&flush, fuse_ino_t, fuse_file_info*>;
    table.release = &answer<&release, fuse_ino_t, fuse_file_info*>;
}

}  // namespace forebay::mount
