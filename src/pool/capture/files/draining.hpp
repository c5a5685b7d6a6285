// Drains files before a call that depends on the file system's state, or whose outcome draining
// would change: also files that this process knows only by name, or by a descriptor that is not
// captured. The files stay in the pool.
#pragma once

#include "pool/capture/files/files.hpp"

#include <sys/types.h>

namespace forebay::capture {

// All earlier writes to the file, by any process, are in the file system. Returns 0 or an errno; 0
// if the file does not exist or is not pooled.
[[nodiscard]] int drain_open(int fd) noexcept;
// The same before the program changes the inode itself (times, mode, owner). A name is looked up as
// fstatat does.
[[nodiscard]] int drain_open_to_change(int fd) noexcept;
[[nodiscard]] int drain_named_to_change(int folder, const char* path, int flags) noexcept;
// Makes the program's own change of the inode by `change` (a call of libc), behind the draining,
// which would change the inode again. -1 and errno if draining fails, else what `change` returns.
template <class Change>
auto change_open(int fd, const Change& change) noexcept {
    const int error = drain_open_to_change(fd);
    return error != 0 ? decltype(change()){fail(error)} : change();
}
template <class Change>
auto change_named(int folder, const char* path, int flags, const Change& change) noexcept {
    const int error = drain_named_to_change(folder, path, flags);
    return error != 0 ? decltype(change()){fail(error)} : change();
}
// Has the daemon drain the file, and close it unless clients have it open. Returns 0 or an errno.
[[nodiscard]] int drain_and_close(dev_t device, ino_t inode) noexcept;
// Drains everything in this node's pool, by whichever process. Returns 0 or an errno.
[[nodiscard]] int drain_all() noexcept;

}  // namespace forebay::capture
