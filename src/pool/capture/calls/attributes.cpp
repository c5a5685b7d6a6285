// Captured calls that set a file's attributes (mode, owner, extended attributes). Earlier deposits
// are drained first: at each write the kernel clears set-user-ID and set-group-ID bits and file
// capabilities and sets times, so draining must not come after the program's call.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "foundation/kernel/system_call.hpp"
#include "pool/capture/files/draining.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/named_files.hpp"

#include <fcntl.h>

namespace forebay::capture {

namespace captured {

int chmod(const char* path, mode_t mode) noexcept {
    return change_named(AT_FDCWD, path, 0, [&]() noexcept { return real::chmod(path, mode); });
}

int lchmod(const char* path, mode_t mode) noexcept {
    return change_named(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW,
                        [&]() noexcept { return real::lchmod(path, mode); });
}

int fchmod(int fd, mode_t mode) noexcept {
    return change_open(fd, [&]() noexcept { return real::fchmod(fd, mode); });
}

int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
    return change_named(folder, path, flags,
                        [&]() noexcept { return real::fchmodat(folder, path, mode, flags); });
}

int chown(const char* path, uid_t user, gid_t group) noexcept {
    return change_named(AT_FDCWD, path, 0,
                        [&]() noexcept { return real::chown(path, user, group); });
}

int lchown(const char* path, uid_t user, gid_t group) noexcept {
    return change_named(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW,
                        [&]() noexcept { return real::lchown(path, user, group); });
}

int fchown(int fd, uid_t user, gid_t group) noexcept {
    return change_open(fd, [&]() noexcept { return real::fchown(fd, user, group); });
}

int fchownat(int folder, const char* path, uid_t user, gid_t group, int flags) noexcept {
    return change_named(folder, path, flags, [&]() noexcept {
        return real::fchownat(folder, path, user, group, flags);
    });
}

int setxattr(const char* path, const char* name, const void* value, size_t bytes,
             int flags) noexcept {
    return change_named(AT_FDCWD, path, 0,
                        [&]() noexcept { return real::setxattr(path, name, value, bytes, flags); });
}

int lsetxattr(const char* path, const char* name, const void* value, size_t bytes,
              int flags) noexcept {
    return change_named(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, [&]() noexcept {
        return real::lsetxattr(path, name, value, bytes, flags);
    });
}

int fsetxattr(int fd, const char* name, const void* value, size_t bytes, int flags) noexcept {
    return change_open(fd,
                       [&]() noexcept { return real::fsetxattr(fd, name, value, bytes, flags); });
}

int removexattr(const char* path, const char* name) noexcept {
    return change_named(AT_FDCWD, path, 0,
                        [&]() noexcept { return real::removexattr(path, name); });
}

int lremovexattr(const char* path, const char* name) noexcept {
    return change_named(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW,
                        [&]() noexcept { return real::lremovexattr(path, name); });
}

int fremovexattr(int fd, const char* name) noexcept {
    return change_open(fd, [&]() noexcept { return real::fremovexattr(fd, name); });
}

// System calls that libc has no function for, or none in older versions. The flags that mean
// something to fstatat are the same there.
long fchmodat2(int folder, const char* path, mode_t mode, unsigned flags) noexcept {
    return change_named(folder, path, static_cast<int>(flags), [&]() noexcept {
        return kernel::system_call(kernel::number::fchmodat2, folder, kernel::word_of(path),
                                   kernel::word_of(mode), kernel::word_of(flags));
    });
}

long setxattrat(int folder, const char* path, unsigned flags, const char* name, const void* value,
                size_t bytes) noexcept {
    return change_named(folder, path, static_cast<int>(flags), [&]() noexcept {
        return kernel::system_call(kernel::number::setxattrat, folder, kernel::word_of(path),
                                   kernel::word_of(flags), kernel::word_of(name),
                                   kernel::word_of(value), kernel::word_of(bytes));
    });
}

long removexattrat(int folder, const char* path, unsigned flags, const char* name) noexcept {
    return change_named(folder, path, static_cast<int>(flags), [&]() noexcept {
        return kernel::system_call(kernel::number::removexattrat, folder, kernel::word_of(path),
                                   kernel::word_of(flags), kernel::word_of(name));
    });
}

// It may make the file immutable, as FS_IOC_FSSETXATTR may.
long file_setattr(int folder, const char* path, void* attributes, size_t bytes,
                  unsigned flags) noexcept {
    const auto set = [&]() noexcept {
        return kernel::system_call(kernel::number::file_setattr, folder, kernel::word_of(path),
                                   kernel::word_of(attributes), kernel::word_of(bytes),
                                   kernel::word_of(flags));
    };
    const int error =
        leave_named(folder, path, static_cast<int>(flags), pool::ThroughReason::asked);
    return error != 0 ? fail(error) : set();
}

}  // namespace captured

}  // namespace forebay::capture
