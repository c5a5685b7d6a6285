// What a program says of one of its files by ioctl: include/forebay_pool.h.
#pragma once

namespace forebay::capture {

// Of a captured descriptor, and one of the requests of forebay_pool.h: 0, or -1 and errno.
int switch_file(int fd, unsigned long request, void* argument) noexcept;
[[nodiscard]] bool is_switch(unsigned long request) noexcept;

}  // namespace forebay::capture
