// Handlers of locks, which are taken on the file below, so that they hold against other mounts and
// nodes. A POSIX lock belongs to a process: each owner has an open file description below of its
// own (OFD locks).
#include "foundation/base/own_fd.hpp"
#include "pool/mount/serving/operations.hpp"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

namespace {

// Opened for reading and writing if permitted: the owner's next lock may come by a descriptor of
// another mode.
OwnFd open_for_locks(const MountedInode& inode, const OpenHandle& handle) {
    const DescriptorName name{inode.path.get()};
    OwnFd fd{::open(name.text(), O_RDWR | O_CLOEXEC | O_NONBLOCK)};
    if (!fd.valid()) {
        fd = OwnFd{::open(name.text(), (handle.flags & O_ACCMODE) | O_CLOEXEC | O_NONBLOCK)};
    }
    return fd;
}

// The owner's descriptor below, which is opened at its first lock. Null and errno if that fails.
// Owned as FileUse says: it stays open as long as the caller has it.
std::shared_ptr<const OwnFd> lock_descriptor(MountedInode& inode, OpenHandle& handle,
                                             std::uint64_t owner, pid_t process) {
    {
        const std::scoped_lock lock{handle.mutex};
        handle.lockers[owner] = true;
    }
    const std::scoped_lock lock{inode.use.mutex};
    LockOwner& one = inode.use.locks[owner];
    if (one.fd == nullptr) {
        OwnFd fd = open_for_locks(inode, handle);
        if (!fd.valid()) {
            const int error = errno;
            inode.use.locks.erase(owner);
            errno = error;
            return nullptr;
        }
        one = {std::make_shared<const OwnFd>(std::move(fd)), process};
    }
    return one.fd;
}

// A duplicate, because an interrupted request may be answered, and the descriptor closed, before it
// is tried for the last time. Shared by copies of the waiting function.
std::shared_ptr<OwnFd> doubled(int fd) {
    return std::make_shared<OwnFd>(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

int getlk(const FuseRequest& asked, fuse_ino_t number, fuse_file_info* file, struct flock* wanted) {
    MountedInode& inode = asked.inode(number);
    const auto fd = lock_descriptor(inode, open_handle(file), file->lock_owner,
                                    fuse_req_ctx(asked.request)->pid);
    wanted->l_pid = 0;
    if (fd == nullptr || ::fcntl(fd->get(), F_OFD_GETLK, wanted) != 0) {
        return errno;
    }
    if (wanted->l_type != F_UNLCK) {
        // The kernel gives no owner for OFD locks, and it may be on another node: another owner
        // known here is a guess.
        const std::scoped_lock lock{inode.use.mutex};
        for (const auto& [owner, one] : inode.use.locks) {
            if (owner != file->lock_owner) {
                wanted->l_pid = one.process;
            }
        }
    }
    fuse_reply_lock(asked.request, wanted);
    return replied;
}

int setlk(const FuseRequest& asked, fuse_ino_t number, fuse_file_info* file, struct flock* wanted,
          int waits) {
    MountedInode& inode = asked.inode(number);
    auto fd = lock_descriptor(inode, open_handle(file), file->lock_owner,
                              fuse_req_ctx(asked.request)->pid);
    if (fd == nullptr) {
        return errno;
    }
    wanted->l_pid = 0;
    const auto attempt = [](int by, struct flock lock) {
        const int error = errno_of_call(::fcntl(by, F_OFD_SETLK, &lock));
        return error == EACCES ? EAGAIN : error;
    };
    const int error = attempt(fd->get(), *wanted);
    if (error != EAGAIN || waits == 0) {
        return error;
    }
    asked.server.lock_waiter().wait(asked.request, [attempt, lock = *wanted, by = std::move(fd)] {
        return attempt(by->get(), lock);
    });
    return replied;
}

int flock(const FuseRequest& asked, fuse_ino_t /*number*/, fuse_file_info* file, int operation) {
    const auto attempt = [operation](int by) {
        return errno_of_call(::flock(by, operation | LOCK_NB));
    };
    const int fd = open_handle(file).fd.get();
    const int error = attempt(fd);
    if (error != EAGAIN || (operation & LOCK_NB) != 0) {
        return error;
    }
    asked.server.lock_waiter().wait(asked.request,
                                    [attempt, by = doubled(fd)] { return attempt(by->get()); });
    return replied;
}

}  // namespace

// Where a request of the owner is under way, its entry stays: a thread that waits for a lock while
// another one closes the file gets the lock later, and keeps it.
void FileUse::drop_locks(std::uint64_t owner) {
    const std::scoped_lock lock{mutex};
    const auto found = locks.find(owner);
    if (found == locks.end()) {
        return;
    }
    if (found->second.fd.use_count() <= 1) {  // only lock_descriptor() makes more, under the mutex
        locks.erase(found);
        return;
    }
    struct flock all{};
    all.l_type = F_UNLCK;
    all.l_whence = SEEK_SET;
    static_cast<void>(::fcntl(found->second.fd->get(), F_OFD_SETLK, &all));
}

void add_lock_operations(fuse_lowlevel_ops& table) {
    table.getlk = &answer<&getlk, fuse_ino_t, fuse_file_info*, struct flock*>;
    table.setlk = &answer<&setlk, fuse_ino_t, fuse_file_info*, struct flock*, int>;
    table.flock = &answer<&flock, fuse_ino_t, fuse_file_info*, int>;
}

}  // namespace forebay::mount
