// Files are drained before a call whose outcome draining would change, or that has to find
// everything in the file system; also those that this process knows by name only, or by a
// descriptor that is not captured. They stay in the pool.
#pragma once

#include <sys/types.h>

namespace forebay::capture {

// Puts all earlier writes, by whomever, into the file system. 0 or an errno; a file that is not
// there, or not the pool's, has nothing to be drained.
[[nodiscard]] int drain_open(int fd) noexcept;
// Before the program changes the file itself, beside its bytes. A name is looked up as fstatat
// does.
[[nodiscard]] int drain_open_to_change(int fd) noexcept;
[[nodiscard]] int drain_named_to_change(int folder, const char* path, int flags) noexcept;
// Everything in the pool, whoever wrote it.
[[nodiscard]] int drain_all() noexcept;

}  // namespace forebay::capture
