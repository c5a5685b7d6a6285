// Locks of ranges of a file (fcntl, lockf) are the kernel's, on the descriptor that it opened. It
// does not know the offset and the length of a file in the pool, from which a range may be counted:
// such a range is given to it as counted from the file's beginning.
#pragma once

namespace forebay::capture {

[[nodiscard]] bool is_record_lock(int command) noexcept;
// As fcntl.
int record_lock(int fd, int command, void* argument) noexcept;

}  // namespace forebay::capture
