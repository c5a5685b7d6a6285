// Captured fopen, freopen, fdopen, fclose: files of the pool get pooled streams. All other streams,
// and those with modes that a pooled stream cannot serve, are libc's; their files leave the pool,
// because libc reads and writes them by internal calls.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/older_libc.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/capture/streams/pooled_stream.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdio_ext.h>

namespace forebay::capture {

namespace {

// A mode of fopen, as far as a pooled stream can serve it.
struct StreamMode {
    bool ours = false;
    int flags = 0;            // open(2)'s flags
    const char* plain = "r";  // r or w, maybe with +
};

// Parses the mode as libc does: one letter, and up to six that follow. A pooled stream does not
// serve appending, mapping, encodings (after a comma), uncancellable calls, or anything that libc
// refuses.
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

// Captures a stream that libc has opened, and truncated if the mode says so; the daemon truncates
// again, since it may hold deposits. False: errno is set, and the stream is still open.
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
    // libc went to the end before the file was drained, so the position is set again.
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

// Prepares a pooled stream for libc to close: everything is written through the pool, and the
// kernel has the offset.
void flush_and_turn(FILE* stream) noexcept {
    if (::fflush(stream) != 0) {
        ::__fpurge(stream);  // freopen reports no error of flushing either
    }
    const HeldDescription held{stream->_fileno};
    if (held) {
        put_offset_into_kernel({*held, stream->_fileno});
    }
    make_plain(stream);
}

// libc's streams are right for a file of a mount, whose calls the kernel brings there.
bool takes_pooled_stream(int fd) noexcept {
    if (!descriptors.captured(fd) || is_standard(fd)) {
        return false;
    }
    const HeldDescription held{fd};
    return held && !is_mounted({*held, fd});
}

FILE* over(int fd, const char* mode) noexcept {
    return takes_pooled_stream(fd) ? stream_over(fd, mode) : real::fdopen(fd, mode);
}

// Closes a stream of libc's, and forgets its descriptor.
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

// The stream stays locked throughout, so that other threads write neither to the old file by libc's
// functions, nor to the new file before the daemon has truncated it.
FILE* freopen(const char* path, const char* mode, FILE* stream) noexcept {
    if (!capturing()) {
        return real::freopen(path, mode, stream);
    }
    kernel::test_cancel();
    const StreamLock locked{*stream};
    if (is_pooled(stream)) {
        flush_and_turn(stream);
    }
    const int fd = descriptor_of(stream);
    FileDescription* const old = descriptors.captured(fd) ? descriptors.take(fd) : nullptr;
    FILE* const reopened = real::freopen(path, mode, stream);
    if (old != nullptr) {
        const InsideCall inside;
        let_go(*old);
    }
    if (!taken_on(reopened, mode)) {
        const int error = errno;
        // Closes it, as a failing freopen of libc does.
        static_cast<void>(real::freopen("", "r", stream));
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

// libc's perror writes to a duplicate of the descriptor, unless the stream was written to before.
void perror(const char* message) noexcept {
    if (is_pooled(::stderr) && ::stderr->_mode == 0) {
        leave_if_captured(::stderr->_fileno, pool::ThroughReason::stream);
    }
    real::perror(message);
}

}  // namespace captured

}  // namespace forebay::capture
