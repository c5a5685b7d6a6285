// C streams: libc reads and writes inside, where nobody sees it, so their files leave the pool.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "entry/posix/files.hpp"
#include "entry/posix/process.hpp"
#include "kernel/calls.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>

namespace forebay::entry {

namespace {

int descriptor_of(FILE* stream) noexcept {
    const int before = errno;
    const int fd = stream == nullptr ? -1 : ::fileno(stream);
    errno = before;
    return fd;
}

// libc has opened it already, and made it empty where the mode says so; the daemon does so again,
// since it may hold deposits.
FILE* taken_on(FILE* stream, const char* mode) noexcept {
    const int fd = descriptor_of(stream);
    if (fd < 0 || !capturing()) {
        return stream;
    }
    const int before = errno;
    const int flags = kernel::fcntl(fd, F_GETFL);
    const bool empties = mode != nullptr && mode[0] == 'w';
    const Opening opening{
        .flags = flags < 0 ? O_RDWR : flags, .through = pool::Reason::stream, .empties = empties};
    if (take_on(fd, opening) == Taken::failed) {
        const int error = errno;
        real::fclose(stream);
        errno = error;
        return nullptr;
    }
    errno = before;
    return stream;
}

}  // namespace

namespace captured {

FILE* fopen(const char* path, const char* mode) noexcept {
    return taken_on(real::fopen(path, mode), mode);
}

FILE* freopen(const char* path, const char* mode, FILE* stream) noexcept {
    const int fd = descriptor_of(stream);
    Description* const old = descriptors.captured(fd) ? descriptors.take(fd) : nullptr;
    FILE* const reopened = real::freopen(path, mode, stream);
    if (old != nullptr) {
        let_go(*old);
    }
    return taken_on(reopened, mode);
}

FILE* fdopen(int fd, const char* mode) noexcept {
    const int error = leave_if_captured(fd, pool::Reason::stream);
    if (error != 0) {
        errno = error;
        return nullptr;
    }
    return real::fdopen(fd, mode);
}

int fclose(FILE* stream) noexcept {
    const int fd = descriptor_of(stream);
    if (!descriptors.captured(fd)) {
        return real::fclose(stream);
    }
    const Held held{fd};
    const int closed = real::fclose(stream);
    if (held && descriptors.take(fd, *held)) {
        let_go(*held);
    }
    return closed;
}

}  // namespace captured

}  // namespace forebay::entry
