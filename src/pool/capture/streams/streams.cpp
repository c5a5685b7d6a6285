// C streams: those of files of the pool go through it; the others, and what ours cannot do, are
// libc's. Their files leave the pool: libc reads and writes inside, where nobody sees it.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/capture/streams/pooled_stream.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <stdio_ext.h>

namespace forebay::capture {

namespace {

// The meaning of fopen's mode, where a stream of ours can do it all.
struct StreamMode {
    bool ours = false;
    int flags = 0;            // as for open(2)
    const char* plain = "r";  // r or w, maybe with +
};

// As libc reads it: one letter, and six that may follow. A stream of ours does no appending,
// mapping, encodings (behind a comma) or calls that nobody cancels; nor anything that libc refuses.
StreamMode mode_of(const char* mode) noexcept {
    constexpr int letters_max = 7;
    const bool writes = mode[0] == 'w';
    if ((!writes && mode[0] != 'r') || std::strchr(mode, ',') != nullptr) {
        return {};
    }
    bool both = false;
    int flags = writes ? O_CREAT | O_TRUNC : 0;
    for (int i = 1; i < letters_max && mode[i] != '\0'; ++i) {
        switch (mode[i]) {
            case '+': both = true; break;
            case 'x': flags |= O_EXCL; break;
            case 'e': flags |= O_CLOEXEC; break;
            case 'm':
            case 'c': return {};
            default: break;
        }
    }
    if (both) {
        return {.ours = true, .flags = flags | O_RDWR, .plain = writes ? "w+" : "r+"};
    }
    return {
        .ours = true, .flags = flags | (writes ? O_WRONLY : O_RDONLY), .plain = writes ? "w" : "r"};
}

int descriptor_of(FILE* stream) noexcept {
    const int before = errno;
    const int fd = stream == nullptr ? -1 : ::fileno(stream);
    errno = before;
    return fd;
}

// libc has opened it already, and made it empty where the mode says so; the daemon does so again,
// since it may hold deposits. False: with errno, and the stream is open.
bool taken_on(FILE* stream, const char* mode) noexcept {
    const int fd = descriptor_of(stream);
    if (fd < 0 || !capturing()) {
        return true;
    }
    const int before = errno;
    const int flags = kernel::fcntl(fd, F_GETFL);
    const bool empties = mode != nullptr && mode[0] == 'w';
    const bool appends = flags >= 0 && (flags & O_APPEND) != 0;
    const DescriptorOrigin opening{
        .flags = flags < 0 ? O_RDWR : flags,
        .through = appends ? pool::ThroughReason::append : pool::ThroughReason::stream,
        .empties = empties};
    if (take_on(fd, opening) == CaptureResult::failed) {
        return false;
    }
    // libc has looked for the end before the file was drained.
    if (appends && mode != nullptr && std::strchr(mode, '+') == nullptr) {
        kernel::lseek(fd, 0, SEEK_END);
    }
    errno = before;
    return true;
}

FILE* opened_plain(const char* path, const char* mode) noexcept {
    FILE* const stream = real::fopen(path, mode);
    if (!taken_on(stream, mode)) {
        const int error = errno;
        real::fclose(stream);
        errno = error;
        return nullptr;
    }
    return stream;
}

// Prepares a stream of ours for libc to close: it has nothing left to write, which would go past
// the pool, and finds the offset in the kernel.
void flush_and_turn(FILE* stream) noexcept {
    if (::fflush(stream) != 0) {
        ::__fpurge(stream);  // freopen does not say so either
    }
    const HeldDescription held{stream->_fileno};
    if (held) {
        put_offset_into_kernel({*held, stream->_fileno});
    }
    make_plain(stream);
}

FILE* over(int fd, const char* mode) noexcept {
    return descriptors.captured(fd) && !is_standard(fd) ? stream_over(fd, mode)
                                                        : real::fdopen(fd, mode);
}

// Closes a stream of libc's.
int close_plain(FILE* stream) noexcept {
    const int fd = descriptor_of(stream);
    if (!descriptors.captured(fd)) {
        return real::fclose(stream);
    }
    const HeldDescription held{fd};
    const int closed = real::fclose(stream);
    if (held && descriptors.take(fd, *held)) {
        let_go(*held);
    }
    return closed;
}

}  // namespace

namespace captured {

FILE* fopen(const char* path, const char* mode) noexcept {
    const StreamMode wanted = capturing() && mode != nullptr ? mode_of(mode) : StreamMode{};
    if (!wanted.ours) {
        return opened_plain(path, mode);
    }
    constexpr mode_t anybody = 0666;
    const int before = errno;
    const int fd = open(path, wanted.flags, anybody);
    if (fd < 0) {
        return nullptr;
    }
    FILE* const stream = over(fd, wanted.plain);
    if (stream == nullptr) {
        const int error = errno;
        static_cast<void>(close(fd));
        errno = error;
        return nullptr;
    }
    errno = before;
    return stream;
}

// Other threads that use the stream wait for all of it: what they write goes neither to the old
// file by libc's functions, nor into the new one before the daemon has made that empty.
FILE* freopen(const char* path, const char* mode, FILE* stream) noexcept {
    if (!capturing()) {
        return real::freopen(path, mode, stream);
    }
    ::pthread_testcancel();
    const StreamLock locked{*stream};
    if (is_pooled(stream)) {
        flush_and_turn(stream);
    }
    const int fd = descriptor_of(stream);
    FileDescription* const old = descriptors.captured(fd) ? descriptors.take(fd) : nullptr;
    FILE* const reopened = real::freopen(path, mode, stream);
    if (old != nullptr) {
        let_go(*old);
    }
    if (!taken_on(reopened, mode)) {
        const int error = errno;
        static_cast<void>(real::freopen("", "r", stream));  // closed, as libc leaves it that fails
        errno = error;
        return nullptr;
    }
    return reopened;
}

FILE* fdopen(int fd, const char* mode) noexcept {
    if (!descriptors.captured(fd)) {
        return real::fdopen(fd, mode);
    }
    const StreamMode wanted = mode != nullptr ? mode_of(mode) : StreamMode{};
    if (wanted.ours) {
        return over(fd, wanted.plain);
    }
    const bool appends = mode != nullptr && mode[0] == 'a';
    const int error =
        leave_if_captured(fd, appends ? pool::ThroughReason::append : pool::ThroughReason::stream);
    if (error != 0) {
        errno = error;
        return nullptr;
    }
    return real::fdopen(fd, mode);
}

int fclose(FILE* stream) noexcept {
    FILE* const model = state.streams.remove(stream);
    const int closed = is_pooled(stream) ? real::fclose(stream) : close_plain(stream);
    close_model(model);
    return closed;
}

// It writes to a descriptor of its own, unless the stream was written to before.
void perror(const char* message) noexcept {
    if (is_pooled(::stderr) && ::stderr->_mode == 0) {
        leave_if_captured(::stderr->_fileno, pool::ThroughReason::stream);
    }
    real::perror(message);
}

}  // namespace captured

}  // namespace forebay::capture
