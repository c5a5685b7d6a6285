// The ioctls by which a program controls the pool for one of its files: include/forebay_pool.h.
#pragma once

namespace forebay::capture {

// Carries out such an ioctl: `fd` is a captured descriptor, `request` one of forebay_pool.h.
// Returns 0, or -1 and errno.
int carry_out_pool_ioctl(int fd, unsigned long request, void* argument) noexcept;
[[nodiscard]] bool is_pool_ioctl(unsigned long request) noexcept;

}  // namespace forebay::capture
