// clone, unshare and close_range can separate memory from descriptors: two of the kernel's
// descriptor tables for one memory, or one descriptor table for two memories. DescriptorTable lies
// in memory, so it could then no longer tell which file a number means. In that case tracking stops
// for good: all files leave the pool, and files opened later are written through. The daemon keeps
// these files open for this process until the process ends, so that no other process pools them
// meanwhile.
#pragma once

namespace forebay::capture {

// Makes all captured files leave the pool and stops tracking. Returns 0, or the errno of the first
// file that could not be drained.
int stop_tracking() noexcept;
// The same for one descriptor.
int stop_tracking(int fd) noexcept;
// Whether other threads, or other processes with this memory, may use our descriptor table.
[[nodiscard]] bool is_shared_table() noexcept;
// Called before the calling thread gets a descriptor table of its own: stops tracking, unless no
// other thread shares the present table. Returns 0 or an errno.
int prepare_own_table() noexcept;

}  // namespace forebay::capture
