// Whether a file lies below a pool path, found as cheaply as possible.
#pragma once

#include <array>
#include <string_view>
#include <sys/types.h>

namespace forebay::capture {

using PathBuffer = std::array<char, 4096>;

// The path by which the kernel knows the descriptor; empty where it is not known.
[[nodiscard]] std::string_view path_of(int fd, PathBuffer& buffer) noexcept;
// False: no file of this file system can be below a pool path.
[[nodiscard]] bool possible_on(dev_t device) noexcept;
// Below a pool path; `path` is then valid.
[[nodiscard]] bool is_pooled(int fd, dev_t device, PathBuffer& buffer,
                             std::string_view& path) noexcept;
// Whether it is worth asking the daemon for a regular file of this name, on this file system.
// Errs to one side only where links lead from elsewhere on the root's file system into the pool.
[[nodiscard]] bool may_be_pooled(int folder, const char* path, dev_t device) noexcept;
// A path that exists, or will: by itself, or by its folder.
[[nodiscard]] bool covers(const char* path) noexcept;

}  // namespace forebay::capture
