// Captured truncate, fallocate, fsync and their relatives.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/draining.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/lost_files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/files/size_limit.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/falloc.h>

namespace forebay::capture {

namespace {

int done(int error) noexcept { return error == 0 ? 0 : fail(error); }

// A descriptor that is not captured may still be one of a pooled file: it was received from another
// process, or the file has a name outside of the pool paths.
template <class Pass>
int synced(int fd, const Pass& pass) noexcept {
    if (!descriptors.captured(fd)) {
        const int error = drain_open(fd);
        return error != 0 ? fail(error) : pass();
    }
    return on(fd, pass, [&](CapturedFile place) noexcept { return done(sync(place)); });
}

// A descriptor of this process that refers to the same file; one that may write, if there is one.
// `fd` is -1 if there is none.
struct OwnDescriptor {
    int fd = -1;
    bool writes = false;
};

OwnDescriptor own_of(const struct stat& wanted) noexcept {
    OwnDescriptor own;
    for (int fd = 0; fd < descriptors.end() && !own.writes; ++fd) {
        struct stat found{};
        const HeldDescription held{fd};
        if (held && kernel::fstat(fd, &found) == 0 && found.st_ino == wanted.st_ino &&
            found.st_dev == wanted.st_dev) {
            const int flags = held->flags.load(std::memory_order_relaxed);
            own = {.fd = fd, .writes = (flags & O_ACCMODE) != O_RDONLY};
        }
    }
    return own;
}

// A mode that moves or removes bytes makes the file leave the pool, with its deposits and
// read-cache blocks. For any other mode the file is drained. `pass` gets 0 or the errno.
template <class Pass>
auto prepared(int fd, int mode, const Pass& pass) noexcept {
    constexpr int changes = FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE |
                            FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;
    const int error = (mode & changes) != 0 ? leave_if_captured(fd, pool::ThroughReason::asked)
                                            : drain_if_captured(fd);
    return pass(error);
}

// ftruncate of a captured descriptor.
int truncate_open(int fd, off_t bytes) noexcept {
    const HeldDescription held{fd};
    if (!held || held->beside.load(std::memory_order_relaxed) || is_mounted({*held, fd}) ||
        (held->flags.load(std::memory_order_relaxed) & O_ACCMODE) == O_RDONLY) {
        return real::ftruncate(fd, bytes);
    }
    const CapturedFile place{*held, fd};
    const FileRoute here = route(place);
    const bool told = here == FileRoute::passed &&
                      connection.life() == DaemonConnection::Life::lives &&
                      held->connection.load(std::memory_order_relaxed) == connection.generation();
    if (here == FileRoute::passed && !told) {
        return real::ftruncate(fd, bytes);
    }
    if (here != FileRoute::lost && is_beyond_size_limit(bytes) && bytes > size_of(place)) {
        return real::ftruncate(fd, bytes);  // fails with EFBIG and sends SIGXFSZ
    }
    return here == FileRoute::lost ? fail(EIO) : done(truncate(place, bytes));
}

}  // namespace

namespace captured {

int fsync(int fd) noexcept {
    return synced(fd, [&]() noexcept { return real::fsync(fd); });
}

int fdatasync(int fd) noexcept {
    return synced(fd, [&]() noexcept { return real::fdatasync(fd); });
}

int sync_file_range(int fd, off_t at, off_t bytes, unsigned flags) noexcept {
    const int error = drain_open(fd);
    return error != 0 ? fail(error) : real::sync_file_range(fd, at, bytes, flags);
}

int syncfs(int fd) noexcept {
    const int drained = drain_all();
    const int error = drained == 0 && capturing() && any_is_lost() ? EIO : drained;
    const int synced = real::syncfs(fd);
    return synced == 0 && error != 0 ? fail(error) : synced;
}

void sync() noexcept {
    static_cast<void>(drain_all());  // sync() reports no errors
    real::sync();
}

int ftruncate(int fd, off_t bytes) noexcept {
    state.memory.forget_all();  // pages beyond the end of a mapped file are no longer accessible
    if (!descriptors.captured(fd) || bytes < 0) {
        return real::ftruncate(fd, bytes);
    }
    return in_one_process([&]() noexcept { return truncate_open(fd, bytes); });
}

int truncate(const char* path, off_t bytes) noexcept {
    state.memory.forget_all();
    struct stat found{};
    if (!capturing() || bytes < 0 || kernel::stat(path, &found) != 0 || !S_ISREG(found.st_mode) ||
        (!possible_on(found.st_dev) && !state.other_names.may_have(found.st_dev, found.st_ino))) {
        return real::truncate(path, bytes);
    }
    const int before = errno;
    // Opening and closing the file once more would release the process' record locks on it.
    const OwnDescriptor own = own_of(found);
    errno = before;
    if (own.writes) {
        return ftruncate(own.fd, bytes);
    }
    if (own.fd >= 0) {
        const int error = leave_if_captured(own.fd, pool::ThroughReason::asked);
        return error != 0 ? fail(error) : real::truncate(path, bytes);
    }
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    const int result = ftruncate(fd, bytes);
    const int error = errno;
    static_cast<void>(close(fd));
    errno = result == 0 ? before : error;
    return result;
}

int fallocate(int fd, int mode, off_t at, off_t bytes) noexcept {
    return prepared(fd, mode, [&](int error) noexcept {
        return error != 0 ? fail(error) : real::fallocate(fd, mode, at, bytes);
    });
}

int posix_fallocate(int fd, off_t at, off_t bytes) noexcept {
    return prepared(fd, 0, [&](int error) noexcept {
        return error != 0 ? error : real::posix_fallocate(fd, at, bytes);
    });
}

}  // namespace captured

}  // namespace forebay::capture
