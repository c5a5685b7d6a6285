// What is said of a file: its size and times are those with the deposits.
#include "base/atomics.hpp"
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "entry/posix/draining.hpp"
#include "entry/posix/files.hpp"
#include "entry/posix/look.hpp"
#include "entry/posix/process.hpp"
#include "kernel/calls.hpp"

#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <optional>

namespace forebay::entry {

namespace {

// What the pool adds to what the file system says.
struct Addition {
    std::int64_t size = 0;
    std::int64_t modified_ns = 0;  // 0: the file system knows it already
};

std::optional<Addition> addition_of(pool::FileId file) noexcept {
    const Connection::Reading reading{connection};
    const std::int64_t size = connection.reader().deposited_size(file);
    const pool::FileSlot& slot = connection.directory().files[file.slot];
    const Addition addition{.size = size, .modified_ns = slot.modified_ns.load(relaxed)};
    if (size < 0 || slot.generation.load(std::memory_order_acquire) != file.generation) {
        return std::nullopt;
    }
    return addition;
}

bool wants_addition(const struct stat& found) noexcept { return S_ISREG(found.st_mode); }
bool wants_addition(const struct statx& found) noexcept { return S_ISREG(found.stx_mode); }
dev_t device_of(const struct stat& found) noexcept { return found.st_dev; }
dev_t device_of(const struct statx& found) noexcept {
    return makedev(found.stx_dev_major, found.stx_dev_minor);
}
ino_t inode_of(const struct stat& found) noexcept { return found.st_ino; }
ino_t inode_of(const struct statx& found) noexcept { return found.stx_ino; }

void add(const Addition& addition, struct stat& out) noexcept {
    out.st_size = std::max<off_t>(out.st_size, addition.size);
    if (addition.modified_ns != 0) {
        out.st_mtim = {addition.modified_ns / nanoseconds, addition.modified_ns % nanoseconds};
        out.st_ctim = out.st_mtim;
    }
}

void add(const Addition& addition, struct statx& out) noexcept {
    out.stx_size = std::max(out.stx_size, static_cast<__u64>(addition.size));
    if (addition.modified_ns != 0) {
        out.stx_mtime.tv_sec = addition.modified_ns / nanoseconds;
        out.stx_mtime.tv_nsec = static_cast<std::uint32_t>(addition.modified_ns % nanoseconds);
        out.stx_ctime = out.stx_mtime;
    }
}

// Asks libc, and where the file is one of the pool, asks again once it is known what to add: what
// was drained in between counts in one of the two. The pool forgets a file whose bytes have all
// been drained, so one that it does not know may have got them since libc was asked.
template <class Status, class Ask>
int look(int folder, const char* path, Status* out, const Ask& ask) noexcept {
    const int done = ask();
    if (done != 0 || !capturing() || !wants_addition(*out)) {
        return done;
    }
    const dev_t device = device_of(*out);
    if (!connection.reached() && !state.other_names.may_have(device, inode_of(*out)) &&
        !may_be_pooled(folder, path, device)) {
        return done;
    }
    if (!connection.reach() || connection.life() != Connection::Life::lives) {
        return connection.stays_out() && drain_and_close(device, inode_of(*out)) == 0 ? ask()
                                                                                      : done;
    }
    const auto file = known(device, inode_of(*out));
    const auto addition = file ? addition_of(*file) : std::nullopt;
    if (!addition) {
        return ask();
    }
    const int again = ask();
    if (again == 0 && device_of(*out) == device) {
        add(*addition, *out);
    }
    return again;
}

template <class Ask>
int look_at_open(int fd, struct stat* out, const Ask& ask) noexcept {
    return on(fd, ask, [&](Place place) noexcept {
        const auto addition = addition_of(place.file.file());
        const int done = ask();
        if (done == 0 && addition) {
            add(*addition, *out);
        }
        return done;
    });
}

// Before times are set: what comes later would set others.
template <class Set>
int set_times(int folder, const char* path, int flags, const Set& set) noexcept {
    const int error = drain_named(folder, path, flags);
    return error != 0 ? fail(error) : set();
}

template <class Set>
int set_times_of_open(int fd, const Set& set) noexcept {
    const int error = drain_open(fd);
    return error != 0 ? fail(error) : set();
}

}  // namespace

namespace captured {

int fstat(int fd, struct stat* out) noexcept {
    return look_at_open(fd, out, [&]() noexcept { return real::fstat(fd, out); });
}

int stat(const char* path, struct stat* out) noexcept {
    return look(AT_FDCWD, path, out, [&]() noexcept { return real::stat(path, out); });
}

int lstat(const char* path, struct stat* out) noexcept {
    return look(AT_FDCWD, path, out, [&]() noexcept { return real::lstat(path, out); });
}

int fstatat(int folder, const char* path, struct stat* out, int flags) noexcept {
    return look(folder, path, out,
                [&]() noexcept { return real::fstatat(folder, path, out, flags); });
}

int statx(int folder, const char* path, int flags, unsigned mask, struct statx* out) noexcept {
    return look(folder, path, out,
                [&]() noexcept { return real::statx(folder, path, flags, mask, out); });
}

int fxstat(int version, int fd, struct stat* out) noexcept {
    return look_at_open(fd, out, [&]() noexcept { return real::fxstat(version, fd, out); });
}

int xstat(int version, const char* path, struct stat* out) noexcept {
    return look(AT_FDCWD, path, out, [&]() noexcept { return real::xstat(version, path, out); });
}

int lxstat(int version, const char* path, struct stat* out) noexcept {
    return look(AT_FDCWD, path, out, [&]() noexcept { return real::lxstat(version, path, out); });
}

int fxstatat(int version, int folder, const char* path, struct stat* out, int flags) noexcept {
    return look(folder, path, out,
                [&]() noexcept { return real::fxstatat(version, folder, path, out, flags); });
}

int chdir(const char* path) noexcept {
    const int done = real::chdir(path);
    state.folder.store(Folder::unknown, relaxed);
    return done;
}

int fchdir(int fd) noexcept {
    const int done = real::fchdir(fd);
    state.folder.store(Folder::unknown, relaxed);
    return done;
}

int utimensat(int folder, const char* path, const timespec* times, int flags) noexcept {
    if (path == nullptr) {
        return set_times_of_open(
            folder, [&]() noexcept { return real::utimensat(folder, path, times, flags); });
    }
    return set_times(folder, path, flags,
                     [&]() noexcept { return real::utimensat(folder, path, times, flags); });
}

int futimens(int fd, const timespec* times) noexcept {
    return set_times_of_open(fd, [&]() noexcept { return real::futimens(fd, times); });
}

int utimes(const char* path, const timeval* times) noexcept {
    return set_times(AT_FDCWD, path, 0, [&]() noexcept { return real::utimes(path, times); });
}

int lutimes(const char* path, const timeval* times) noexcept {
    return set_times(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW,
                     [&]() noexcept { return real::lutimes(path, times); });
}

int futimes(int fd, const timeval* times) noexcept {
    return set_times_of_open(fd, [&]() noexcept { return real::futimes(fd, times); });
}

int futimesat(int folder, const char* path, const timeval* times) noexcept {
    return set_times(folder, path, 0,
                     [&]() noexcept { return real::futimesat(folder, path, times); });
}

int utime(const char* path, const utimbuf* times) noexcept {
    return set_times(AT_FDCWD, path, 0, [&]() noexcept { return real::utime(path, times); });
}

}  // namespace captured

}  // namespace forebay::entry
