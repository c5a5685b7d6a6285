// The kernel also resolves offset and length once, before it waits for the lock, so the conversion
// is no further race.
#include "pool/capture/calls/locks.hpp"

#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>

namespace forebay::capture {

namespace {

constexpr std::int64_t the_kernels = -1;

// The offset that a range is relative to; `the_kernels` if the kernel has it; or `the_kernels`
// minus an errno.
std::int64_t origin(CapturedFile place, int whence) noexcept {
    if (whence == SEEK_CUR) {
        return place.file.offset.load(std::memory_order_acquire);  // may be in_kernel
    }
    const std::int64_t size = size_of(place);
    return size < 0 ? the_kernels + size : size;
}
static_assert(in_kernel == the_kernels);

std::int64_t origin_of(int fd, int whence) noexcept {
    const int before = errno;
    const std::int64_t at = in_one_process([&]() noexcept {
        const HeldDescription held{fd};
        if (held) {
            const CapturedFile place{*held, fd};
            switch (route(place)) {
                case FileRoute::pooled: return origin(place, whence);
                case FileRoute::passed: break;
                case FileRoute::lost: return the_kernels - EIO;
            }
        }
        return the_kernels;
    });
    errno = before;
    return at;
}

bool asks(int command) noexcept { return command == F_GETLK || command == F_OFD_GETLK; }

}  // namespace

bool is_record_lock(int command) noexcept {
    switch (command) {
        case F_GETLK:
        case F_SETLK:
        case F_SETLKW:
        case F_OFD_GETLK:
        case F_OFD_SETLK:
        case F_OFD_SETLKW: return true;
        default: return false;
    }
}

// No hold is kept while the kernel waits for the lock: a thread may be cancelled there.
int record_lock(int fd, int command, void* argument) noexcept {
    auto* const wanted = static_cast<struct flock*>(argument);
    if (!descriptors.captured(fd) ||
        state.memory.readable(wanted, sizeof *wanted) < sizeof *wanted ||
        (wanted->l_whence != SEEK_CUR && wanted->l_whence != SEEK_END)) {
        return real::fcntl(fd, command, argument);
    }
    if (wanted->l_whence == SEEK_END) {
        refresh_size_of(fd);
    }
    const std::int64_t from = origin_of(fd, wanted->l_whence);
    if (from == the_kernels) {
        return real::fcntl(fd, command, argument);
    }
    if (from < the_kernels) {
        return fail(static_cast<int>(the_kernels - from));
    }
    struct flock absolute = *wanted;
    absolute.l_whence = SEEK_SET;
    if (__builtin_add_overflow(from, wanted->l_start, &absolute.l_start)) {
        return fail(EOVERFLOW);
    }
    if (asks(command) && !state.memory.writable(wanted, sizeof *wanted)) {
        return fail(EFAULT);
    }
    const int done = real::fcntl(fd, command, &absolute);
    if (done == 0 && asks(command)) {
        // If no lock conflicts, the kernel sets l_type and leaves the other fields as they were.
        if (absolute.l_type == F_UNLCK) {
            wanted->l_type = F_UNLCK;
        } else {
            *wanted = absolute;
        }
    }
    return done;
}

namespace captured {

// libc's lockf calls fcntl internally, past the capture.
int lockf(int fd, int command, off_t bytes) noexcept {
    if (!descriptors.captured(fd)) {
        return real::lockf(fd, command, bytes);
    }
    struct flock range{};
    range.l_whence = SEEK_CUR;
    range.l_len = bytes;
    range.l_type = F_WRLCK;
    switch (command) {
        case F_LOCK: return fcntl(fd, F_SETLKW, &range);
        case F_TLOCK: return fcntl(fd, F_SETLK, &range);
        case F_ULOCK: range.l_type = F_UNLCK; return fcntl(fd, F_SETLK, &range);
        case F_TEST: break;
        default: return fail(EINVAL);
    }
    range.l_type = F_RDLCK;
    if (fcntl(fd, F_GETLK, &range) < 0) {
        return -1;
    }
    const bool free = range.l_type == F_UNLCK || range.l_pid == kernel::getpid();
    return free ? 0 : fail(EACCES);
}

}  // namespace captured

}  // namespace forebay::capture
