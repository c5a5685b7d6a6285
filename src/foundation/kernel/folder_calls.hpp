// The ...at() system calls relative to an open directory, made directly as those of calls.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace forebay::kernel {

// `resolve` takes RESOLVE_… flags, as those of newer_linux.hpp. Fails with ENOSYS before Linux 5.6.
int openat2(int folder, const char* path, int flags, std::uint64_t resolve) noexcept;
// The bytes of the link's target, which gets no terminating zero.
ssize_t readlinkat(int folder, const char* path, char* out, std::size_t bytes) noexcept;
int mkdirat(int folder, const char* path, mode_t mode) noexcept;
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept;
int unlinkat(int folder, const char* path, int flags) noexcept;

}  // namespace forebay::kernel
