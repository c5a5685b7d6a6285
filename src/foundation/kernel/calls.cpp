// Each function makes one system call.
#include "foundation/kernel/calls.hpp"

#include "foundation/kernel/system_call.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace forebay::kernel {

static_assert(sizeof(off_t) == sizeof(long), "offsets are one word of a system call");

namespace {

template <class... Arguments>
long call(long number, Arguments... arguments) noexcept {
    return system_call(number, word_of(arguments)...);
}

template <class... Arguments>
int status(long number, Arguments... arguments) noexcept {
    return static_cast<int>(system_call(number, word_of(arguments)...));
}

// The high half of an offset, which only 32-bit kernels take as an argument of its own.
constexpr long no_high_half = 0;

}  // namespace

int open(const char* path, int flags, mode_t mode) noexcept {
    return status(SYS_openat, AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, mode_t mode) noexcept {
    return status(SYS_openat, folder, path, flags, mode);
}
int close(int fd) noexcept { return status(SYS_close, fd); }
int fcntl(int fd, int command, long argument) noexcept {
    return status(SYS_fcntl, fd, command, argument);
}
off_t lseek(int fd, off_t at, int whence) noexcept { return call(SYS_lseek, fd, at, whence); }

ssize_t read(int fd, void* to, std::size_t bytes) noexcept { return call(SYS_read, fd, to, bytes); }
ssize_t write(int fd, const void* from, std::size_t bytes) noexcept {
    return call(SYS_write, fd, from, bytes);
}
ssize_t writev(int fd, const iovec* pieces, int count) noexcept {
    return call(SYS_writev, fd, pieces, static_cast<long>(count));
}
ssize_t pread(int fd, void* to, std::size_t bytes, off_t at) noexcept {
    return call(SYS_pread64, fd, to, bytes, at);
}
ssize_t pwrite(int fd, const void* from, std::size_t bytes, off_t at) noexcept {
    return call(SYS_pwrite64, fd, from, bytes, at);
}
ssize_t preadv(int fd, const iovec* pieces, int count, off_t at) noexcept {
    return call(SYS_preadv, fd, pieces, static_cast<long>(count), at, no_high_half);
}
ssize_t pwritev(int fd, const iovec* pieces, int count, off_t at) noexcept {
    return call(SYS_pwritev, fd, pieces, static_cast<long>(count), at, no_high_half);
}
int fsync(int fd) noexcept { return status(SYS_fsync, fd); }
int fdatasync(int fd) noexcept { return status(SYS_fdatasync, fd); }
int sync_file_range(int fd, off_t at, off_t bytes, unsigned flags) noexcept {
    return status(SYS_sync_file_range, fd, at, bytes, flags);
}
int fallocate(int fd, int mode, off_t at, off_t bytes) noexcept {
    return status(SYS_fallocate, fd, mode, at, bytes);
}
int ftruncate(int fd, off_t bytes) noexcept { return status(SYS_ftruncate, fd, bytes); }

int fstat(int fd, struct stat* out) noexcept { return status(SYS_fstat, fd, out); }
int fstatat(int folder, const char* path, struct stat* out, int flags) noexcept {
    return status(SYS_newfstatat, folder, path, out, flags);
}
int stat(const char* path, struct stat* out) noexcept {
    return status(SYS_newfstatat, AT_FDCWD, path, out, 0);
}
int statfs(const char* path, struct statfs* out) noexcept { return status(SYS_statfs, path, out); }
int fstatfs(int fd, struct statfs* out) noexcept { return status(SYS_fstatfs, fd, out); }
int futimens(int fd, const timespec* times) noexcept {
    return status(SYS_utimensat, fd, nullptr, times, 0);
}
int access(const char* path, int mode) noexcept {
    return status(SYS_faccessat, AT_FDCWD, path, mode);
}
ssize_t readlink(const char* path, char* out, std::size_t bytes) noexcept {
    return call(SYS_readlinkat, AT_FDCWD, path, out, bytes);
}
ssize_t getxattr(const char* path, const char* name, void* value, std::size_t bytes) noexcept {
    return call(SYS_getxattr, path, name, value, bytes);
}
ssize_t fgetxattr(int fd, const char* name, void* value, std::size_t bytes) noexcept {
    return call(SYS_fgetxattr, fd, name, value, bytes);
}
int setxattr(const char* path, const char* name, const void* value, std::size_t bytes,
             int flags) noexcept {
    return status(SYS_setxattr, path, name, value, bytes, flags);
}
int rename(const char* from, const char* to) noexcept {
    return status(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int unlink(const char* path) noexcept { return status(SYS_unlinkat, AT_FDCWD, path, 0); }
int mkdir(const char* path, mode_t mode) noexcept {
    return status(SYS_mkdirat, AT_FDCWD, path, mode);
}
ssize_t getcwd(char* out, std::size_t bytes) noexcept { return call(SYS_getcwd, out, bytes); }

int memfd_create(const char* name, unsigned flags) noexcept {
    return status(SYS_memfd_create, name, flags);
}
void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address is the call's result
    return reinterpret_cast<void*>(call(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
int munmap(void* at, std::size_t bytes) noexcept { return status(SYS_munmap, at, bytes); }
int madvise(void* at, std::size_t bytes, int advice) noexcept {
    return status(SYS_madvise, at, bytes, advice);
}
int mlock2(const void* at, std::size_t bytes, unsigned flags) noexcept {
    return status(SYS_mlock2, at, bytes, flags);
}
std::size_t page_bytes() noexcept { return ::getauxval(AT_PAGESZ); }

int socket(int family, int type, int protocol) noexcept {
    return status(SYS_socket, family, type, protocol);
}
int connect(int fd, const sockaddr* address, std::size_t bytes) noexcept {
    return status(SYS_connect, fd, address, bytes);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) noexcept {
    return call(SYS_sendmsg, fd, message, flags);
}
ssize_t recvmsg(int fd, msghdr* message, int flags) noexcept {
    return call(SYS_recvmsg, fd, message, flags);
}

int futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
               const timespec& time) noexcept {
    return status(SYS_futex, &word, FUTEX_WAIT, seen, &time, nullptr, 0);
}
int futex_wake(std::atomic<std::uint32_t>& word, int sleepers) noexcept {
    return status(SYS_futex, &word, FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
}
Signals hold_signals() noexcept {
    Signals before = 0;
    const Signals all = ~Signals{0};
    status(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    return before;
}
void give_signals(Signals before) noexcept {
    status(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
}
pid_t getpid() noexcept { return status(SYS_getpid); }
rlim_t limit_of(int resource) noexcept {
    rlimit limit{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    status(SYS_prlimit64, 0, resource, nullptr, &limit);
    return limit.rlim_cur;
}
int prlimit(int resource, const rlimit* wanted, rlimit* before) noexcept {
    return status(SYS_prlimit64, 0, resource, wanted, before);
}
bool is_capable(int capability) noexcept {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    const auto word = static_cast<std::size_t>(CAP_TO_INDEX(capability));
    return status(SYS_capget, &header, sets.data()) == 0 &&
           (sets[word].effective & CAP_TO_MASK(capability)) != 0;
}

}  // namespace forebay::kernel
