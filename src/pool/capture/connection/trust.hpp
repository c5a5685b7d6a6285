// Whether a program may trust the process that listens at the daemon's socket: programs send it
// descriptors of their files. Safe in signal handlers.
#pragma once

#include <sys/types.h>

namespace forebay::capture {

// Before connecting: null, or what is wrong with the folder of the socket, which has to be this
// user's and closed to others. One that is not there is for connect() to tell.
[[nodiscard]] const char* folder_problem(const char* socket) noexcept;

// The problem with the process that listens at a connected socket; null: none. `daemon`: the
// process that it has to be; 0: not known. Where the kernel cannot name a process (it is in another
// PID namespace), only the user is checked.
[[nodiscard]] const char* listener_problem(int socket, pid_t daemon) noexcept;

// The daemon's process, if `told`, "PROCESS:SOCKET" from `forebay run`, is about this socket; else
// 0.
[[nodiscard]] pid_t daemon_of(const char* told, const char* socket) noexcept;

}  // namespace forebay::capture
