// Decides whether a file lies below a pool path, with as few system calls as possible.
#pragma once

#include <array>
#include <string_view>
#include <sys/types.h>

namespace forebay::capture {

using PathBuffer = std::array<char, 4096>;

// Finds out, once, on which file systems the pool's folders are, and which are mounts of Forebay.
void look_at_pool_folders() noexcept;
// The path that /proc/self/fd gives for the descriptor; empty if there is none.
[[nodiscard]] std::string_view path_of(int fd, PathBuffer& buffer) noexcept;
// False if no file of this file system can lie below a pool path.
[[nodiscard]] bool possible_on(dev_t device) noexcept;
// Whether the open file lies below a pool path; `path` is then its path in `buffer`.
[[nodiscard]] bool is_pooled(int fd, dev_t device, PathBuffer& buffer,
                             std::string_view& path) noexcept;
// Whether it is worth asking the daemon about a regular file of this name on file system `device`.
// May return true in vain; false is wrong only for symbolic links that lead from elsewhere on the
// root's file system into the pool.
[[nodiscard]] bool may_be_pooled(int folder, const char* path, dev_t device) noexcept;
// Whether a path lies below a pool path; one that does not exist yet is judged by its directory.
[[nodiscard]] bool covers(const char* path) noexcept;

}  // namespace forebay::capture
