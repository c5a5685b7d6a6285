// Each function is one system call.
#include "foundation/kernel/folder_calls.hpp"

#include "foundation/kernel/newer_linux.hpp"
#include "foundation/kernel/system_call.hpp"

#include <sys/syscall.h>

namespace forebay::kernel {

namespace {

template <class... Arguments>
long call(long number, Arguments... arguments) noexcept {
    return system_call(number, word_of(arguments)...);
}

}  // namespace

int openat2(int folder, const char* path, int flags, std::uint64_t resolve) noexcept {
    const OpenHow how{static_cast<std::uint64_t>(flags), 0, resolve};
    return static_cast<int>(call(number::openat2, folder, path, &how, sizeof how));
}
ssize_t readlinkat(int folder, const char* path, char* out, std::size_t bytes) noexcept {
    return call(SYS_readlinkat, folder, path, out, bytes);
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
    return static_cast<int>(call(SYS_mkdirat, folder, path, mode));
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
    return static_cast<int>(call(SYS_renameat2, from_folder, from, to_folder, to, 0));
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    return static_cast<int>(call(SYS_unlinkat, folder, path, flags));
}

}  // namespace forebay::kernel
