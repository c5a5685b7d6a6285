// The kernel lets threads and processes share memory and the table of descriptors each by itself
// (clone, unshare, close_range). Our table of descriptors lies in memory. Where one memory has
// several of the kernel's tables, or one of the kernel's has several memories, it cannot say what a
// number means: all files leave the pool then, no descriptor is tracked any more, and what is
// opened later is written through. The daemon holds these files open for this process until it
// ends, so that nobody else pools them meanwhile.
#pragma once

namespace forebay::capture {

// All files leave, and nothing is tracked from now on. 0 or an errno: a file cannot be drained.
int stop_tracking() noexcept;
// As above, of one descriptor.
int stop_tracking(int fd) noexcept;
// Whether other threads, or other processes with this memory, may use our descriptors.
[[nodiscard]] bool is_shared_table() noexcept;
// The calling thread is to have a table of descriptors of its own: stop_tracking(), unless it has
// that already. 0 or an errno.
int prepare_own_table() noexcept;

}  // namespace forebay::capture
