// Captured functions of libc that open, read or write a file by internal calls. The file is drained
// before they read it, and leaves the pool before they write to it.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/draining.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/named_files.hpp"
#include "pool/capture/processes/process.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdio_ext.h>

namespace forebay::capture {

namespace {

// Forgets descriptors 0 to 2 after libc has closed or replaced them by internal calls.
void forget_standard_streams() noexcept {
    for (int fd = 0; fd < standard_streams; ++fd) {
        const InsideCall inside;
        FileDescription* const held = descriptors.captured(fd) ? descriptors.take(fd) : nullptr;
        if (held != nullptr) {
            let_go(*held);
        }
    }
}

template <class Pass>
int drained(const char* path, const Pass& pass) noexcept {
    const int error = drain_named(AT_FDCWD, path, 0);
    return error != 0 ? fail(error) : pass();
}

}  // namespace

namespace captured {

// As libc does: a stream with close-on-exec, and without locking.
FILE* setmntent(const char* path, const char* mode) noexcept {
    constexpr std::size_t letters_max = 8;
    if (!capturing() || mode == nullptr || std::strlen(mode) > letters_max) {
        return real::setmntent(path, mode);
    }
    constexpr std::string_view more = "ce";
    std::array<char, letters_max + more.size() + 1> all{};
    const std::size_t letters = std::strlen(mode);
    std::memcpy(all.data(), mode, letters);
    std::memcpy(all.data() + letters, more.data(), more.size());
    FILE* const stream = captured::fopen(path, all.data());
    if (stream != nullptr) {
        ::__fsetlocking(stream, FSETLOCKING_BYCALLER);
    }
    return stream;
}

int endmntent(FILE* stream) noexcept {
    if (stream != nullptr) {
        static_cast<void>(captured::fclose(stream));
    }
    return 1;  // its manual page says: always
}

nl_catd catopen(const char* name, int flags) noexcept {
    if (name != nullptr && std::strchr(name, '/') != nullptr) {
        static_cast<void>(drain_named(AT_FDCWD, name, 0));
    }
    return real::catopen(name, flags);
}

// The kernel appends accounting records to the file from now on.
int acct(const char* path) noexcept {
    const int error = leave_named(AT_FDCWD, path, 0, pool::ThroughReason::asked);
    return error != 0 ? fail(error) : real::acct(path);
}

int swapon(const char* path, int flags) noexcept {
    return drained(path, [&]() noexcept { return real::swapon(path, flags); });
}

void updwtmp(const char* path, const struct utmp* entry) noexcept {
    static_cast<void>(leave_named(AT_FDCWD, path, 0, pool::ThroughReason::append));
    real::updwtmp(path, entry);
}

void updwtmpx(const char* path, const struct utmpx* entry) noexcept {
    static_cast<void>(leave_named(AT_FDCWD, path, 0, pool::ThroughReason::append));
    real::updwtmpx(path, entry);
}

// getutent, pututline and their relatives open this file inside.
int utmpname(const char* path) noexcept {
    const int error = leave_named(AT_FDCWD, path, 0, pool::ThroughReason::stream);
    return error != 0 ? fail(error) : real::utmpname(path);
}

int utmpxname(const char* path) noexcept {
    const int error = leave_named(AT_FDCWD, path, 0, pool::ThroughReason::stream);
    return error != 0 ? fail(error) : real::utmpxname(path);
}

// POSIX shared memory is a file of /dev/shm, which may lie below a pool path.
int shm_open(const char* name, int flags, mode_t mode) noexcept {
    const int before = errno;
    const int fd = real::shm_open(name, flags, mode);
    if (fd < 0 || !capturing()) {
        return fd;
    }
    const DescriptorOrigin opening{
        .flags = flags,
        .through = pool::ThroughReason::mapped,
        .empties = (flags & O_TRUNC) != 0 && (flags & O_ACCMODE) != O_RDONLY};
    if (take_on(fd, opening) == CaptureResult::failed) {
        const int error = errno;
        kernel::close(fd);
        return fail(error);
    }
    errno = before;
    return fd;
}

// The terminal replaces the three standard streams.
int login_tty(int fd) noexcept {
    const int done = real::login_tty(fd);
    if (done == 0) {
        forget_standard_streams();
    }
    return done;
}

// The child opens, and may truncate, the file before it runs a program with this library: the file
// leaves the pool. Returns 0 or an errno.
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t* actions, int fd, const char* path,
                                     int flags, mode_t mode) noexcept {
    if (capturing() && path != nullptr) {
        const bool elsewhere = path[0] != '/' && state.spawns_elsewhere.load(relaxed);
        const int error = elsewhere
                              ? drain_all()
                              : leave_named(AT_FDCWD, path, 0, pool::ThroughReason::inherited);
        if (error != 0) {
            return error;
        }
    }
    return real::posix_spawn_file_actions_addopen(actions, fd, path, flags, mode);
}

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t* actions,
                                         const char* path) noexcept {
    state.spawns_elsewhere.store(true, relaxed);
    return real::posix_spawn_file_actions_addchdir_np(actions, path);
}

int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t* actions, int fd) noexcept {
    state.spawns_elsewhere.store(true, relaxed);
    return real::posix_spawn_file_actions_addfchdir_np(actions, fd);
}

// libc duplicates /dev/null to the standard streams by internal calls.
int daemon(int stay, int keep) noexcept {
    const int done = real::daemon(stay, keep);
    if (done == 0 && keep == 0) {
        forget_standard_streams();
    }
    return done;
}

}  // namespace captured

}  // namespace forebay::capture
