// Each function is one system call.
#include "foundation/kernel/folder_calls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace forebay::kernel {

int openat2(int folder, const char* path, int flags, std::uint64_t resolve) noexcept {
    constexpr long number = 437;  // the same on all architectures; older headers lack it
    struct How {
        std::uint64_t flags = 0;
        std::uint64_t mode = 0;
        std::uint64_t resolve = 0;
    };
    const How how{static_cast<std::uint64_t>(flags), 0, resolve};
    return static_cast<int>(::syscall(number, folder, path, &how, sizeof how));
}
ssize_t readlinkat(int folder, const char* path, char* out, std::size_t bytes) noexcept {
    return ::syscall(SYS_readlinkat, folder, path, out, bytes);
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
    return static_cast<int>(::syscall(SYS_mkdirat, folder, path, mode));
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
    return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}

}  // namespace forebay::kernel
