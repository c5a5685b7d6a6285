// Record locks (fcntl, lockf) are the kernel's, on the descriptor that it opened. But a range may
// be relative to the offset or to the end of the file, which the kernel does not know of a pooled
// file: such a range is converted to an absolute one (SEEK_SET) first.
#pragma once

namespace forebay::capture {

[[nodiscard]] bool is_record_lock(int command) noexcept;
// As fcntl with a command of record locks.
int record_lock(int fd, int command, void* argument) noexcept;

}  // namespace forebay::capture
