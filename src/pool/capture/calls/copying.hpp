// Copies that the kernel makes.
#pragma once

namespace forebay::capture {

// The source is drained, and the kernel has its offset. 0 or an errno.
int prepare_source(int fd) noexcept;
// As above; and what it is copied to leaves the pool.
int prepare_copy(int from, int to) noexcept;

}  // namespace forebay::capture
