// Captured dprintf, and functions that print a backtrace: libc formats and writes to the descriptor
// by internal calls.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <sys/mman.h>

#include <array>
#include <cerrno>

// libc's, for programs compiled with _FORTIFY_SOURCE.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): libc's name
extern "C" int __vsnprintf_chk(char* to, std::size_t bytes, int checks, std::size_t room,
                               const char* format, va_list rest);

namespace forebay::capture {

namespace {

// Repeats write() until all bytes are written, as dprintf does. Returns the bytes, or -1 and errno.
int write_all(int fd, const char* text, std::size_t bytes) noexcept {
    std::size_t written = 0;
    while (written < bytes) {
        const ssize_t moved = captured::write(fd, text + written, bytes - written);
        if (moved < 0) {
            return -1;
        }
        written += static_cast<std::size_t>(moved);
    }
    return static_cast<int>(bytes);
}

// Formats the text and writes it to `fd`. `format` writes it to memory as vsnprintf does, and is
// called up to twice; `pass` calls libc's function.
template <class Format, class Pass>
int print(int fd, const Format& format, const Pass& pass) noexcept {
    constexpr std::size_t usual_bytes = 4096;
    std::array<char, usual_bytes> usual;
    const int before = errno;  // "%m" prints it
    const int bytes = format(usual.data(), usual.size());
    if (bytes < 0) {
        return bytes;
    }
    const auto needed = static_cast<std::size_t>(bytes) + 1;
    if (needed <= usual.size()) {
        errno = before;
        return write_all(fd, usual.data(), needed - 1);
    }
    void* const room =
        kernel::mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = before;
    if (room == MAP_FAILED) {
        const int error = leave_if_captured(fd, pool::ThroughReason::stream);
        return error != 0 ? fail(error) : pass();
    }
    const int again = format(static_cast<char*>(room), needed);
    const bool same = again == bytes;
    if (again >= 0) {
        errno = before;
    }
    const int done = same ? write_all(fd, static_cast<const char*>(room), needed - 1) : -1;
    const int error = errno;
    state.memory.forget(room, needed);
    kernel::munmap(room, needed);
    errno = error;
    return done;
}

// As print() if `fd` is captured, otherwise as `pass`. `format` gets its arguments in a copy of
// `rest`, so that it can be called again.
template <class Format, class Pass>
int print_if_captured(int fd, va_list rest, const Format& format, const Pass& pass) noexcept {
    if (!descriptors.captured(fd)) {
        return pass();
    }
    return print(
        fd,
        [&](char* to, std::size_t bytes) noexcept {
            va_list once;
            va_copy(once, rest);
            const int made = format(to, bytes, once);
            va_end(once);
            return made;
        },
        pass);
}

}  // namespace

namespace captured {

int vdprintf(int fd, const char* format, va_list rest) noexcept {
    return print_if_captured(
        fd, rest,
        [&](char* to, std::size_t bytes, va_list once) noexcept {
            return ::vsnprintf(to, bytes, format, once);
        },
        [&]() noexcept { return real::vdprintf(fd, format, rest); });
}

int vdprintf_chk(int fd, int checks, const char* format, va_list rest) noexcept {
    return print_if_captured(
        fd, rest,
        [&](char* to, std::size_t bytes, va_list once) noexcept {
            return ::__vsnprintf_chk(to, bytes, checks, bytes, format, once);
        },
        [&]() noexcept { return real::vdprintf_chk(fd, checks, format, rest); });
}

int dprintf(int fd, const char* format, va_list rest) noexcept {
    return vdprintf(fd, format, rest);
}

int dprintf_chk(int fd, int checks, const char* format, va_list rest) noexcept {
    return vdprintf_chk(fd, checks, format, rest);
}

// Called in programs that have crashed, so nothing is allocated.
void backtrace_symbols_fd(void* const* frames, int count, int fd) noexcept {
    // The function reports no errors.
    static_cast<void>(leave_if_captured(fd, pool::ThroughReason::stream));
    real::backtrace_symbols_fd(frames, count, fd);
}

}  // namespace captured

}  // namespace forebay::capture
