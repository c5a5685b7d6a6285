// Writing to the log by its descriptor. Before each write two things are checked: RLIMIT_FSIZE,
// since a write beyond it would kill the program by SIGXFSZ, and the inode behind the descriptor,
// since a program that closed the number by a call that is not captured may have opened a file of
// its own there.
#include "pool/capture/connection/log_descriptor.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <ctime>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace forebay::capture {

namespace {

// Reads one byte of each page of the source, so that page faults are served before the write:
// during the write the daemon is kept from allocating memory for the log.
void touch(std::span<const std::byte> bytes) noexcept {
    const auto read = [](const std::byte& one) {
        static_cast<void>(*const_cast<const volatile std::byte*>(&one));
    };
    const std::size_t page = kernel::page_bytes();
    for (std::size_t i = 0; i < bytes.size(); i += page) {
        read(bytes[i]);
    }
    if (!bytes.empty()) {
        read(bytes.back());
    }
}

}  // namespace

void LogDescriptor::take(int fd, std::size_t bytes) noexcept {
    struct stat found{};
    if (kernel::fstat(fd, &found) != 0) {
        kernel::close(fd);
        return;
    }
    bytes_ = bytes;
    device_ = found.st_dev;
    inode_ = found.st_ino;
    fd_.store(fd, std::memory_order_seq_cst);
}

void LogDescriptor::close() noexcept {
    const int fd = fd_.exchange(-1, std::memory_order_seq_cst);
    if (fd >= 0) {
        kernel::close(fd);
    }
    drop_unclosed();
}

void LogDescriptor::drop_unclosed() noexcept {
    fd_.store(-1, std::memory_order_seq_cst);
    writes_in_flight_.store(0, relaxed);
}

void LogDescriptor::move_to_duplicate(int (*duplicate)(int fd)) noexcept {
    const int old = fd();
    const int other = old < 0 ? -1 : duplicate(old);
    if (other >= 0) {
        fd_.store(other, std::memory_order_seq_cst);
        kernel::close(old);
    }
}

// A thread that still writes finishes in a moment, or sees after its write that the number has
// changed. The wait is bounded, because the writer may be this very thread, interrupted by a
// signal.
void LogDescriptor::yield_number() noexcept {
    constexpr int yields = 1000;
    constexpr int naps = 1000;
    constexpr timespec nap{.tv_sec = 0, .tv_nsec = 1'000'000};
    fd_.store(-1, std::memory_order_seq_cst);
    for (int i = 0; i < yields + naps && writes_in_flight_.load(std::memory_order_seq_cst) > 0;
         ++i) {
        if (i < yields) {
            ::sched_yield();
        } else {
            ::nanosleep(&nap, nullptr);
        }
    }
}

bool LogDescriptor::is_still_the_log(int fd) const noexcept {
    struct stat found{};
    return kernel::limit_of(RLIMIT_FSIZE) >= bytes_ && kernel::fstat(fd, &found) == 0 &&
           found.st_dev == device_ && found.st_ino == inode_;
}

bool LogDescriptor::write(std::size_t place, std::span<const std::byte> bytes) noexcept {
    const int before = errno;
    touch(bytes);
    writes_in_flight_.fetch_add(1, std::memory_order_seq_cst);
    const int fd = fd_.load(std::memory_order_seq_cst);
    const bool written =
        fd >= 0 && is_still_the_log(fd) &&
        kernel::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(place)) ==
            static_cast<ssize_t>(bytes.size());
    const bool done = written && fd_.load(std::memory_order_seq_cst) == fd;
    writes_in_flight_.fetch_sub(1, std::memory_order_release);
    errno = before;
    return done;
}

}  // namespace forebay::capture
