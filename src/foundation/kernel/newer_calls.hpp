// System calls that older kernels lack or a container's filter refuses, with a replacement for them
// there. Names, arguments and results are otherwise those of calls.hpp; all are async-signal-safe.
#pragma once

#include <ctime>
#include <sys/epoll.h>
#include <sys/types.h>

namespace forebay::kernel {

// As epoll_pwait2(2) without a signal mask. Before Linux 5.11, waits in whole milliseconds, rounded
// up.
int epoll_wait(int epoll, epoll_event* events, int count, const timespec& wait_max) noexcept;

// Closes the descriptors from `first` to `last`. Before Linux 5.9, one by one: those that
// /proc/self/fd lists, or without /proc all numbers up to the limit.
void close_range(unsigned first, unsigned last) noexcept;

// A descriptor that becomes readable when the process ends. Has no replacement: fails with ENOSYS
// before Linux 5.3.
int pidfd_open(pid_t process) noexcept;

}  // namespace forebay::kernel
