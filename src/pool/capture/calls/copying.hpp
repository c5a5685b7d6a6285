// Preparation for copies that the kernel makes between descriptors (copy_file_range, sendfile,
// splice, FICLONE).
#pragma once

namespace forebay::capture {

// Drains the source file, and puts its offset into the kernel. Returns 0 or an errno.
int prepare_source(int fd) noexcept;
// The same for `from`; and the file of `to` leaves the pool. Returns 0 or an errno.
int prepare_copy(int from, int to) noexcept;

}  // namespace forebay::capture
