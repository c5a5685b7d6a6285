// Captured open calls: the kernel opens the file, with all its checks; then its descriptor is
// captured.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "foundation/kernel/system_call.hpp"
#include "pool/capture/files/draining.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/named_files.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace forebay::capture {

namespace {

bool opens_to_write(int flags) noexcept {
    return (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;
}

// With O_TRUNC the kernel empties a file also for a descriptor that cannot write: then the file
// leaves the pool. Returns 0 or an errno.
int prepare_emptying(int folder, const char* path, int flags) noexcept {
    if ((flags & O_TRUNC) == 0 || opens_to_write(flags) || (flags & (O_PATH | O_DIRECTORY)) != 0) {
        return 0;
    }
    const int follow = (flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
    return leave_named(folder, path, follow, pool::ThroughReason::asked);
}

// Whether O_TRUNC has to be withheld from the kernel: truncation of a pooled file goes to the
// daemon, in order with the file's deposits.
bool is_emptied_by_us(int folder, const char* path, int flags) noexcept {
    const bool asked = (flags & O_TRUNC) != 0 && opens_to_write(flags);
    if (!asked || (flags & (O_PATH | O_DIRECTORY)) != 0 || path == nullptr) {
        return false;
    }
    struct stat found{};
    const int follow = (flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
    return kernel::fstatat(folder, path, &found, follow) == 0 && S_ISREG(found.st_mode) &&
           (possible_on(found.st_dev) || state.other_names.may_have(found.st_dev, found.st_ino));
}

int closed_again(int fd, int error) noexcept {
    kernel::close(fd);
    errno = error;
    return -1;
}

// Captures `fd`, which the kernel has opened; without O_TRUNC if `empties` is true. Returns `fd`,
// or -1 and errno, with `fd` closed.
int taken_on(int fd, int flags, bool empties, int errno_before) noexcept {
    const CaptureResult taken = take_on(fd, {.flags = flags, .empties = empties});
    if (taken == CaptureResult::failed) {
        return closed_again(fd, errno);
    }
    if (taken == CaptureResult::no && empties && kernel::ftruncate(fd, 0) != 0) {
        return closed_again(fd, errno);
    }
    errno = errno_before;
    return fd;
}

template <class Open>
int open_with(int folder, const char* path, int flags, const Open& open) noexcept {
    if (!capturing()) {
        return open(flags);
    }
    if (const int error = prepare_emptying(folder, path, flags); error != 0) {
        return fail(error);
    }
    const int before = errno;
    const bool empties = is_emptied_by_us(folder, path, flags);
    errno = before;
    const int fd = open(empties ? flags & ~O_TRUNC : flags);
    return fd < 0 ? fd : taken_on(fd, flags, empties, before);
}

bool is_regular(int fd) noexcept {
    struct stat found{};
    return kernel::fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

template <class Make>
int temporary(const Make& make) noexcept {
    const int before = errno;
    const int fd = make();
    if (fd >= 0 && capturing()) {
        // Without truncation, which alone could fail.
        static_cast<void>(take_on(fd, {.flags = O_RDWR | O_CREAT | O_EXCL}));
        errno = before;
    }
    return fd;
}

}  // namespace

namespace captured {

int open(const char* path, int flags, mode_t mode) noexcept {
    return open_with(AT_FDCWD, path, flags,
                     [&](int how) noexcept { return real::open(path, how, mode); });
}

int openat(int folder, const char* path, int flags, mode_t mode) noexcept {
    return open_with(folder, path, flags,
                     [&](int how) noexcept { return real::openat(folder, path, how, mode); });
}

int creat(const char* path, mode_t mode) noexcept {
    constexpr int flags = O_CREAT | O_WRONLY | O_TRUNC;
    return open_with(AT_FDCWD, path, flags, [&](int how) noexcept {
        return how == flags ? real::creat(path, mode) : real::open(path, how, mode);
    });
}

int open_2(const char* path, int flags) noexcept {
    return open_with(AT_FDCWD, path, flags,
                     [&](int how) noexcept { return real::open_2(path, how); });
}

int openat_2(int folder, const char* path, int flags) noexcept {
    return open_with(folder, path, flags,
                     [&](int how) noexcept { return real::openat_2(folder, path, how); });
}

int mkstemp(char* name) noexcept {
    return temporary([&]() noexcept { return real::mkstemp(name); });
}

int mkostemp(char* name, int flags) noexcept {
    return temporary([&]() noexcept { return real::mkostemp(name, flags); });
}

int mkstemps(char* name, int suffix) noexcept {
    return temporary([&]() noexcept { return real::mkstemps(name, suffix); });
}

int mkostemps(char* name, int suffix, int flags) noexcept {
    return temporary([&]() noexcept { return real::mkostemps(name, suffix, flags); });
}

// Nothing is known of the file behind a handle before it is open, so O_TRUNC is always withheld.
int open_by_handle_at(int mounted, file_handle* handle, int flags) noexcept {
    if (!capturing()) {
        return real::open_by_handle_at(mounted, handle, flags);
    }
    const int before = errno;
    const int fd = real::open_by_handle_at(mounted, handle, flags & ~O_TRUNC);
    const bool empties = (flags & O_TRUNC) != 0 && opens_to_write(flags);
    return fd < 0 ? fd : taken_on(fd, flags, empties && is_regular(fd), before);
}

// The resolve flags of openat2 decide where the path leads, so nothing is known of the file before
// it is open.
long openat2(int folder, const char* path, const void* how, size_t bytes) noexcept {
    const auto opened = [&](const void* as_asked) noexcept {
        return kernel::system_call(kernel::number::openat2, folder, kernel::word_of(path),
                                   kernel::word_of(as_asked), kernel::word_of(bytes));
    };
    kernel::OpenHow asked;
    if (!capturing() || bytes < sizeof asked ||
        state.memory.readable(how, sizeof asked) != sizeof asked) {
        return opened(how);
    }
    const int before = errno;
    std::memcpy(&asked, how, sizeof asked);
    const int flags = static_cast<int>(asked.flags);
    const bool empties = (flags & O_TRUNC) != 0 && (flags & O_PATH) == 0 && opens_to_write(flags);
    if ((flags & O_TRUNC) != 0 && (flags & O_PATH) == 0 && !opens_to_write(flags)) {
        const int error = drain_all();  // the kernel empties a file that nobody can name here
        if (error != 0) {
            return fail(error);
        }
    }
    // A larger structure of a later kernel is passed as it is.
    const bool ours = empties && bytes == sizeof asked;
    asked.flags &= ~static_cast<std::uint64_t>(O_TRUNC);
    const auto fd = static_cast<int>(opened(ours ? &asked : how));
    return fd < 0 ? fd : taken_on(fd, flags, empties && is_regular(fd), before);
}

// The other process shares the offset, and may not be captured.
int pidfd_getfd(int process, int fd, unsigned flags) noexcept {
    const int before = errno;
    const int got = real::pidfd_getfd(process, fd, flags);
    if (got >= 0 && capturing()) {
        static_cast<void>(take_on(got, {.flags = kernel::fcntl(got, F_GETFL),
                                        .through = pool::ThroughReason::sent,
                                        .fresh = false}));
        errno = before;
    }
    return got;
}

}  // namespace captured

}  // namespace forebay::capture
