// The kernel's calls that begin at an open folder, made as those of calls.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace forebay::kernel {

// `resolve`: RESOLVE_NO_SYMLINKS and the like. ENOSYS before Linux 5.6.
inline constexpr std::uint64_t resolve_no_symlinks = 0x04;
int openat2(int folder, const char* path, int flags, std::uint64_t resolve) noexcept;
// Bytes of the name, which has no end.
ssize_t readlinkat(int folder, const char* path, char* out, std::size_t bytes) noexcept;
int mkdirat(int folder, const char* path, mode_t mode) noexcept;
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept;
int unlinkat(int folder, const char* path, int flags) noexcept;

}  // namespace forebay::kernel
