// Handlers of attributes: GETATTR, SETATTR, extended attributes, STATFS, and the ioctls of lsattr
// and chattr.
#include "foundation/base/own_fd.hpp"
#include "pool/mount/serving/operations.hpp"
#include "pool/mount/tier/tiered_files.hpp"
#include "pool/protocol/mounted_file.hpp"

#include "forebay_pool.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/fs.h>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace forebay::mount {

int status_of(MountServer& server, MountedInode& inode, struct stat& status) {
    if (::fstatat(inode.path.get(), "", &status, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) {
        return errno;
    }
    if (const int error = server.route().add(inode.use, inode.path.get(), status); error != 0) {
        return error;
    }
    add_tiered_status(server.tier(), inode, status);
    prefer_large_calls(status);
    return 0;
}

void prefer_large_calls(struct stat& status) noexcept {
    constexpr blksize_t preferred_min = blksize_t{128} << 10;
    if (S_ISREG(status.st_mode)) {
        status.st_blksize = std::max(status.st_blksize, preferred_min);
    }
}

namespace {

int answer_status(const FuseRequest& asked, MountedInode& inode, AnswerOrder order) {
    struct stat status{};
    const double valid = asked.server.attributes_valid(inode, order);
    if (const int error = status_of(asked.server, inode, status); error != 0) {
        return error;
    }
    fuse_reply_attr(asked.request, &status, valid);
    return replied;
}

int getattr(const FuseRequest& asked, fuse_ino_t number, fuse_file_info* /*file*/) {
    return answer_status(asked, asked.inode(number), AnswerOrder::ordered);
}

int set_mode(const FuseRequest& asked, const MountedInode& inode, mode_t mode) {
    struct stat status{};
    if ((mode & S_ISGID) != 0 &&
        ::fstatat(inode.path.get(), "", &status, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) {
        return errno;
    }
    const GroupIdentity group{status.st_gid, asked.server.by_root() && (mode & S_ISGID) != 0};
    return errno_of_call(::chmod(DescriptorName{inode.path.get()}.text(), mode & 07777));
}

int set_owner(const MountedInode& inode, const struct stat& wanted, int set) {
    const uid_t owner = (set & FUSE_SET_ATTR_UID) != 0 ? wanted.st_uid : static_cast<uid_t>(-1);
    const gid_t group = (set & FUSE_SET_ATTR_GID) != 0 ? wanted.st_gid : static_cast<gid_t>(-1);
    return errno_of_call(
        ::fchownat(inode.path.get(), "", owner, group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

int set_size(const FuseRequest& asked, MountedInode& inode, std::int64_t bytes,
             const OpenHandle* handle) {
    if (asked.server.tier() != nullptr) {
        return truncate_tiered(*asked.server.tier(), inode, bytes, handle);
    }
    if (handle != nullptr) {
        return asked.server.route().truncate(inode.use, handle->fd.get(), bytes);
    }
    const OwnFd fd{::open(DescriptorName{inode.path.get()}.text(), O_WRONLY | O_CLOEXEC)};
    return fd.valid() ? asked.server.route().truncate(inode.use, fd.get(), bytes) : errno;
}

int set_times(const FuseRequest& asked, const MountedInode& inode, const struct stat& wanted,
              int set) {
    std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, timespec{0, UTIME_OMIT}};
    if ((set & FUSE_SET_ATTR_ATIME_NOW) != 0) {
        times[0].tv_nsec = UTIME_NOW;
    } else if ((set & FUSE_SET_ATTR_ATIME) != 0) {
        times[0] = wanted.st_atim;
    }
    if ((set & FUSE_SET_ATTR_MTIME_NOW) != 0) {
        times[1].tv_nsec = UTIME_NOW;
    } else if ((set & FUSE_SET_ATTR_MTIME) != 0) {
        times[1] = wanted.st_mtim;
    }
    if (times[1].tv_nsec != UTIME_OMIT && set_tiered_time(asked.server.tier(), inode, times[1])) {
        times[1].tv_nsec = UTIME_OMIT;
    }
    return errno_of_call(
        ::utimensat(inode.path.get(), "", times.data(), AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

int setattr(const FuseRequest& asked, fuse_ino_t number, struct stat* wanted, int set,
            fuse_file_info* file) {
    constexpr int owner = FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID;
    constexpr int times = FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |
                          FUSE_SET_ATTR_MTIME_NOW;
    MountedInode& inode = asked.inode(number);
    int error = 0;
    if ((set & (FUSE_SET_ATTR_MODE | owner | times)) != 0) {
        // Draining later would change times and clear set-id bits.
        error = asked.server.route().before_change(inode.use);
    }
    std::optional<CaptureBan> ban;
    if (error == 0 && (set & FUSE_SET_ATTR_MODE) != 0 &&
        (wanted->st_mode & (S_ISUID | S_ISGID)) != 0) {
        ban.emplace(inode.use);  // a deposit of a captured program clears no bits
        error = asked.server.route().make_way(inode.use, pool::ThroughReason::asked);
    }
    if (error == 0 && asked.server.tier() != nullptr && (set & FUSE_SET_ATTR_MODE) != 0) {
        error = asked.server.tier()->before_mode(inode.path.get(), wanted->st_mode);
    }
    const tier::LiveTier::AttributeChange change{
        (set & ~FUSE_SET_ATTR_SIZE) != 0 ? asked.server.tier() : nullptr, inode.path.get()};
    if (error == 0 && (set & owner) != 0) {
        error = set_owner(inode, *wanted, set);
    }
    if (error == 0 && (set & FUSE_SET_ATTR_MODE) != 0) {
        error = set_mode(asked, inode, wanted->st_mode);
    }
    if (error == 0 && (set & FUSE_SET_ATTR_SIZE) != 0) {
        error =
            set_size(asked, inode, wanted->st_size, file == nullptr ? nullptr : &open_handle(file));
    }
    if (error == 0 && (set & times) != 0) {
        error = set_times(asked, inode, *wanted, set);
    }
    return error != 0 ? error : answer_status(asked, inode, AnswerOrder::unordered);
}

int setxattr(const FuseRequest& asked, fuse_ino_t number, const char* name, const char* value,
             std::size_t bytes, int flags) {
    MountedInode& inode = asked.inode(number);
    if (asked.server.tier() != nullptr) {
        if (const auto done = order_tier(*asked.server.tier(), inode, name, {value, bytes})) {
            return *done;
        }
    }
    const CaptureBan ban{inode.use};
    int error = asked.server.route().before_change(inode.use);
    if (error == 0 && std::string_view{name} == "security.capability") {
        error = asked.server.route().make_way(inode.use, pool::ThroughReason::asked);
        if (error == 0 && asked.server.tier() != nullptr) {
            error = asked.server.tier()->before_privileges(inode.path.get());
        }
    }
    const tier::LiveTier::AttributeChange change{asked.server.tier(), inode.path.get()};
    const DescriptorName file{inode.path.get()};
    return error != 0 ? error : errno_of_call(::setxattr(file.text(), name, value, bytes, flags));
}

int removexattr(const FuseRequest& asked, fuse_ino_t number, const char* name) {
    MountedInode& inode = asked.inode(number);
    if (asked.server.tier() != nullptr && is_of_tier(*asked.server.tier(), name)) {
        return ENODATA;
    }
    const tier::LiveTier::AttributeChange change{asked.server.tier(), inode.path.get()};
    const int error = asked.server.route().before_change(inode.use);
    const DescriptorName file{inode.path.get()};
    return error != 0 ? error : errno_of_call(::removexattr(file.text(), name));
}

// For GETXATTR and LISTXATTR: `get` fills memory and returns its bytes, or returns the bytes needed
// if it gets null.
template <class Get>
int answer_value(const FuseRequest& asked, std::size_t bytes, const Get& get) {
    std::vector<char> value(bytes);
    const ssize_t got = get(bytes == 0 ? nullptr : value.data(), bytes);
    if (got < 0) {
        return errno;
    }
    if (bytes == 0) {
        fuse_reply_xattr(asked.request, static_cast<std::size_t>(got));
    } else {
        fuse_reply_buf(asked.request, value.data(), static_cast<std::size_t>(got));
    }
    return replied;
}

int getxattr(const FuseRequest& asked, fuse_ino_t number, const char* name, std::size_t bytes) {
    const DescriptorName file{asked.inode(number).path.get()};
    if (asked.server.tier() != nullptr && is_of_tier(*asked.server.tier(), name)) {
        const auto text = ask_tier(*asked.server.tier(), asked.inode(number), name);
        if (!text) {
            return ENODATA;
        }
        return answer_value(asked, bytes, [&text](char* to, std::size_t room) -> ssize_t {
            if (room != 0 && room < text->size()) {
                errno = ERANGE;
                return -1;
            }
            text->copy(to, room == 0 ? 0 : text->size());
            return static_cast<ssize_t>(text->size());
        });
    }
    return answer_value(asked, bytes, [&](char* to, std::size_t room) {
        return ::getxattr(file.text(), name, to, room);
    });
}

int listxattr(const FuseRequest& asked, fuse_ino_t number, std::size_t bytes) {
    const DescriptorName file{asked.inode(number).path.get()};
    return answer_value(asked, bytes, [&](char* to, std::size_t room) {
        return without_tier(asked.server.tier(), to, ::listxattr(file.text(), to, room), room);
    });
}

int statfs(const FuseRequest& asked, fuse_ino_t number) {
    struct statvfs system{};
    if (::fstatvfs(asked.inode(number).path.get(), &system) != 0) {
        return errno;
    }
    fuse_reply_statfs(asked.request, &system);
    return replied;
}

// FS_IOC_FSGETXATTR: before the kernel sends FS_IOC_SETFLAGS, it asks for these.
int answer_extended_flags(const FuseRequest& asked, int fd) {
    fsxattr found{};
    if (::ioctl(fd, FS_IOC_FSGETXATTR, &found) != 0) {
        return errno;
    }
    fuse_reply_ioctl(asked.request, 0, &found, sizeof found);
    return replied;
}

// FS_IOC_GETFLAGS and FS_IOC_SETFLAGS, which the kernel also sends for its own fileattr calls.
int ioctl(const FuseRequest& asked, fuse_ino_t number, unsigned command, void* /*argument*/,
          fuse_file_info* file, unsigned flags, const void* in, std::size_t in_bytes,
          std::size_t out_bytes) {
    // The kernel reads the size of an answer from the command.
    if (command == protocol::ask_whether_mounted) {
        // Without a pool it is a file system like others, and a pool may be before it.
        return asked.server.daemon() != 0 ? answer_whether_mounted(asked) : ENOTTY;
    }
    if (command == protocol::ask_to_capture) {
        return answer_capture(asked, number, file);
    }
    if (command == FOREBAY_POOL_SET && (flags & FUSE_IOCTL_DIR) == 0) {
        return set_pool(asked, number, file, {static_cast<const std::byte*>(in), in_bytes});
    }
    const bool sets = command == FS_IOC_SETFLAGS && in_bytes >= sizeof(int);
    const bool extended = command == FS_IOC_FSGETXATTR && out_bytes >= sizeof(fsxattr);
    if (!sets && !extended && (command != FS_IOC_GETFLAGS || out_bytes < sizeof(int))) {
        return ENOTTY;
    }
    MountedInode& inode = asked.inode(number);
    const OwnFd fd{
        ::open(DescriptorName{inode.path.get()}.text(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (!fd.valid()) {
        return errno;
    }
    if (extended) {
        return answer_extended_flags(asked, fd.get());
    }
    long value = 0;
    if (sets) {
        value = *static_cast<const int*>(in);
        if (const int error = asked.server.route().before_change(inode.use); error != 0) {
            return error;
        }
    }
    if (::ioctl(fd.get(), command, &value) != 0) {
        return errno;
    }
    const int word = static_cast<int>(value);
    fuse_reply_ioctl(asked.request, 0, &word, sets ? 0 : sizeof word);
    return replied;
}

}  // namespace

void add_attribute_operations(fuse_lowlevel_ops& table) {
    table.getattr = &answer<&getattr, fuse_ino_t, fuse_file_info*>;
    table.setattr = &answer<&setattr, fuse_ino_t, struct stat*, int, fuse_file_info*>;
    table.setxattr = &answer<&setxattr, fuse_ino_t, const char*, const char*, std::size_t, int>;
    table.removexattr = &answer<&removexattr, fuse_ino_t, const char*>;
    table.getxattr = &answer<&getxattr, fuse_ino_t, const char*, std::size_t>;
    table.listxattr = &answer<&listxattr, fuse_ino_t, std::size_t>;
    table.statfs = &answer<&statfs, fuse_ino_t>;
    table.ioctl = &answer<&ioctl, fuse_ino_t, unsigned, void*, fuse_file_info*, unsigned,
                          const void*, std::size_t, std::size_t>;
}

}  // namespace forebay::mount
