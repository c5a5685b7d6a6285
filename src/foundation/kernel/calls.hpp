// System calls on files, memory and sockets, made directly (system_call.hpp) instead of through
// libc. A library that interposes libc's file calls must not intercept its own: nothing that we
// load into a program calls libc's open, pwrite and the like (tools/checks/kernel.py checks it).
//
// Names, arguments and results are those of the system calls: -1 and errno on failure; nothing is
// retried. All but contents() are async-signal-safe. Two exceptions go without this layer:
// directories are listed by libc's readdir, which is not intercepted, and data through io_uring by
// liburing, which makes system calls itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>

namespace forebay::kernel {

int open(const char* path, int flags, mode_t mode = 0) noexcept;
int openat(int folder, const char* path, int flags, mode_t mode = 0) noexcept;
int close(int fd) noexcept;
int fcntl(int fd, int command, long argument = 0) noexcept;
off_t lseek(int fd, off_t at, int whence) noexcept;

ssize_t read(int fd, void* to, std::size_t bytes) noexcept;
ssize_t write(int fd, const void* from, std::size_t bytes) noexcept;
ssize_t writev(int fd, const iovec* pieces, int count) noexcept;
ssize_t pread(int fd, void* to, std::size_t bytes, off_t at) noexcept;
ssize_t pwrite(int fd, const void* from, std::size_t bytes, off_t at) noexcept;
ssize_t preadv(int fd, const iovec* pieces, int count, off_t at) noexcept;
ssize_t pwritev(int fd, const iovec* pieces, int count, off_t at) noexcept;
int fsync(int fd) noexcept;
int fdatasync(int fd) noexcept;
int sync_file_range(int fd, off_t at, off_t bytes, unsigned flags) noexcept;
int fallocate(int fd, int mode, off_t at, off_t bytes) noexcept;
int ftruncate(int fd, off_t bytes) noexcept;

int fstat(int fd, struct stat* out) noexcept;
int fstatat(int folder, const char* path, struct stat* out, int flags) noexcept;
int stat(const char* path, struct stat* out) noexcept;
int statfs(const char* path, struct statfs* out) noexcept;
int fstatfs(int fd, struct statfs* out) noexcept;
// Sets the times of last access and last modification, as futimens(3).
int futimens(int fd, const timespec* times) noexcept;
int access(const char* path, int mode) noexcept;
// The bytes of the link's target, which gets no terminating zero.
ssize_t readlink(const char* path, char* out, std::size_t bytes) noexcept;
ssize_t getxattr(const char* path, const char* name, void* value, std::size_t bytes) noexcept;
ssize_t fgetxattr(int fd, const char* name, void* value, std::size_t bytes) noexcept;
int setxattr(const char* path, const char* name, const void* value, std::size_t bytes,
             int flags) noexcept;
int rename(const char* from, const char* to) noexcept;
int unlink(const char* path) noexcept;
int mkdir(const char* path, mode_t mode) noexcept;
// The bytes of the path including its terminating zero, or -1.
ssize_t getcwd(char* out, std::size_t bytes) noexcept;

int memfd_create(const char* name, unsigned flags) noexcept;
// MAP_FAILED on failure.
void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept;
int munmap(void* at, std::size_t bytes) noexcept;
int madvise(void* at, std::size_t bytes, int advice) noexcept;
int mlock2(const void* at, std::size_t bytes, unsigned flags) noexcept;
// The size of a page in bytes, a power of two: 4 KiB on x86-64, up to 64 KiB on aarch64.
std::size_t page_bytes() noexcept;

int socket(int family, int type, int protocol) noexcept;
int connect(int fd, const sockaddr* address, std::size_t bytes) noexcept;
ssize_t sendmsg(int fd, const msghdr* message, int flags) noexcept;
ssize_t recvmsg(int fd, msghdr* message, int flags) noexcept;

// FUTEX_WAIT: sleeps while the futex word equals `seen`, at most for `time`. The word may be mapped
// read-only.
int futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
               const timespec& time) noexcept;
int futex_wake(std::atomic<std::uint32_t>& word, int sleepers) noexcept;
// The calling thread's signal mask: hold_signals() blocks all signals and returns the mask before;
// give_signals() restores it.
using Signals = std::uint64_t;
Signals hold_signals() noexcept;
void give_signals(Signals before) noexcept;
pid_t getpid() noexcept;
// The soft limit of a resource (RLIMIT_…); RLIM_INFINITY if it cannot be read.
rlim_t limit_of(int resource) noexcept;
// As prlimit(2), for this process: stores the present limit in `before` and sets `wanted`; either
// may be null.
int prlimit(int resource, const rlimit* wanted, rlimit* before) noexcept;
// Whether this thread has a capability (CAP_…) in its effective set.
bool is_capable(int capability) noexcept;

// Reads a small file whole (settings, /proc, /sys). nullopt and errno if it cannot be read or is
// larger than `bytes_max` bytes (EFBIG).
[[nodiscard]] std::optional<std::string> contents(const std::string& path,
                                                  std::size_t bytes_max = std::size_t{1} << 24);

}  // namespace forebay::kernel
