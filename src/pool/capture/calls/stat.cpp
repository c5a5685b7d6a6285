// Captured stat calls, whose sizes and times include deposits; and calls that set times or change
// the working directory.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/additions.hpp"
#include "pool/capture/files/draining.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/lost_files.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <optional>

namespace forebay::capture {

namespace {

using pool::ChangeTimes;
using pool::StatAddition;

bool wants_addition(const struct stat& found) noexcept { return S_ISREG(found.st_mode); }
bool wants_addition(const struct statx& found) noexcept { return S_ISREG(found.stx_mode); }
dev_t device_of(const struct stat& found) noexcept { return found.st_dev; }
dev_t device_of(const struct statx& found) noexcept {
    return makedev(found.stx_dev_major, found.stx_dev_minor);
}
ino_t inode_of(const struct stat& found) noexcept { return found.st_ino; }
ino_t inode_of(const struct statx& found) noexcept { return found.stx_ino; }

SeenFile seen_in(const struct stat& found) noexcept {
    return {found.st_dev, found.st_ino, found.st_mtim.tv_sec * nanoseconds + found.st_mtim.tv_nsec};
}
SeenFile seen_in(const struct statx& found) noexcept {
    return {device_of(found), inode_of(found),
            found.stx_mtime.tv_sec * nanoseconds + found.stx_mtime.tv_nsec};
}

std::int64_t grain_in(const struct stat& found) noexcept {
    return pool::grain_of(found.st_blksize);
}
std::int64_t grain_in(const struct statx& found) noexcept {
    return pool::grain_of(found.stx_blksize);
}

void set_change_time(const ChangeTimes& before, const ChangeTimes& after,
                     struct statx& out) noexcept {
    const std::int64_t found = out.stx_ctime.tv_sec * nanoseconds + out.stx_ctime.tv_nsec;
    const std::int64_t seen = change_time(before, found, after);
    out.stx_ctime.tv_sec = seen / nanoseconds;
    out.stx_ctime.tv_nsec = static_cast<std::uint32_t>(seen % nanoseconds);
}

void add(const StatAddition& addition, const ChangeTimes& after, struct statx& out) noexcept {
    const std::int64_t modified = addition.times.modified_ns;
    out.stx_size = std::max(out.stx_size, static_cast<__u64>(addition.size));
    out.stx_blocks =
        static_cast<__u64>(blocks_with(addition, static_cast<std::int64_t>(out.stx_blocks),
                                       static_cast<std::int64_t>(out.stx_size), grain_in(out)));
    if (modified != 0) {
        out.stx_mtime.tv_sec = modified / nanoseconds;
        out.stx_mtime.tv_nsec = static_cast<std::uint32_t>(modified % nanoseconds);
    }
    set_change_time(addition.times, after, out);
}

// stat of a file that the pool has drained and forgotten: only its ctime may need correction.
template <class Status, class Ask>
int look_at_forgotten(dev_t device, Status* out, const Ask& ask) noexcept {
    const int done = ask();
    if (done == 0 && device_of(*out) == device) {
        const ChangeTimes times = remembered_times(device, inode_of(*out));
        set_change_time(times, times, *out);
    }
    return done;
}

// `done`, which stat of a regular file returned without the pool, unless that leaves out deposits
// that a dead daemon had: the file is longer than it seems.
template <class Status>
int unless_lost(int done, const Status& out) noexcept {
    return done == 0 && is_lost(seen_in(out)) ? fail(EIO) : done;
}

// stat of a regular file where no daemon answers. Unless the daemon is dead, it may have drained
// the file, and ended, since libc was asked: then libc is asked once more.
template <class Status, class Ask>
int look_without_daemon(Status* out, const Ask& ask) noexcept {
    const bool drained =
        connection.is_unmapped()
            ? drain_and_close(device_of(*out), inode_of(*out)) == 0
            : !connection.reached() || connection.life() == DaemonConnection::Life::ended;
    return unless_lost(drained ? ask() : 0, *out);
}

// stat of a regular file that libc has found.
template <class Status, class Ask>
int look_again(int folder, const char* path, Status* out, const Ask& ask) noexcept {
    const dev_t device = device_of(*out);
    const bool may = connection.reached() ? possible_on(device)
                                          : state.other_names.may_have(device, inode_of(*out)) ||
                                                may_be_pooled(folder, path, device);
    if (!may) {
        return 0;
    }
    if (!connection.reach() || connection.life() != DaemonConnection::Life::lives) {
        return look_without_daemon(out, ask);
    }
    const auto file = known(device, inode_of(*out));
    const auto addition = file ? addition_of(*file, grain_in(*out)) : std::nullopt;
    if (!addition) {
        return unless_lost(look_at_forgotten(device, out, ask), *out);
    }
    const int again = ask();
    if (again == 0 && device_of(*out) == device) {
        add(*addition, times_of(*file), *out);
    }
    return again;
}

// stat by name. Calls libc first; if the file may be pooled, takes the pool's addition and then
// calls libc again, so that bytes drained in between are not missed. A file that the daemon does
// not know may have been drained and forgotten since the first call.
template <class Status, class Ask>
int look(int folder, const char* path, Status* out, const Ask& ask) noexcept {
    const int done = ask();
    if (done != 0 || !capturing() || !wants_addition(*out)) {
        return done;
    }
    return in_one_process([&]() noexcept { return look_again(folder, path, out, ask); });
}

// stat by descriptor. A file whose descriptor is not captured, or is passed on to libc, is looked
// up by its inode: it may have deposits by other descriptors, and its times are the same by all.
template <class Ask>
int look_at_open(int fd, struct stat* out, const Ask& ask) noexcept {
    const auto pass = [&]() noexcept {
        return connection.reached() ? look(fd, "", out, ask) : ask();
    };
    return on(fd, pass, [&](CapturedFile place) noexcept {
        auto addition = addition_of(place.file.file(), pool::usual_grain);
        int done = ask();
        if (done == 0 && addition && addition->occupied > 0 &&
            grain_in(*out) != pool::usual_grain) {
            addition = addition_of(place.file.file(), grain_in(*out));
            done = ask();
        }
        if (!addition && connection.life() == DaemonConnection::Life::dead) {
            return fail(EIO);  // the file below is shorter than what was acknowledged
        }
        if (done == 0 && addition) {
            add(*addition, times_of(place.file.file()), *out);
        }
        return done;
    });
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
    state.folder.store(WorkingFolder::unknown, relaxed);
    return done;
}

int fchdir(int fd) noexcept {
    const int done = real::fchdir(fd);
    state.folder.store(WorkingFolder::unknown, relaxed);
    return done;
}

int utimensat(int folder, const char* path, const timespec* times, int flags) noexcept {
    if (path == nullptr) {
        return change_open(folder,
                           [&]() noexcept { return real::utimensat(folder, path, times, flags); });
    }
    return change_named(folder, path, flags,
                        [&]() noexcept { return real::utimensat(folder, path, times, flags); });
}

int futimens(int fd, const timespec* times) noexcept {
    return change_open(fd, [&]() noexcept { return real::futimens(fd, times); });
}

int utimes(const char* path, const timeval* times) noexcept {
    return change_named(AT_FDCWD, path, 0, [&]() noexcept { return real::utimes(path, times); });
}

int lutimes(const char* path, const timeval* times) noexcept {
    return change_named(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW,
                        [&]() noexcept { return real::lutimes(path, times); });
}

int futimes(int fd, const timeval* times) noexcept {
    return change_open(fd, [&]() noexcept { return real::futimes(fd, times); });
}

int futimesat(int folder, const char* path, const timeval* times) noexcept {
    return change_named(folder, path, 0,
                        [&]() noexcept { return real::futimesat(folder, path, times); });
}

int utime(const char* path, const utimbuf* times) noexcept {
    return change_named(AT_FDCWD, path, 0, [&]() noexcept { return real::utime(path, times); });
}

}  // namespace captured

}  // namespace forebay::capture
