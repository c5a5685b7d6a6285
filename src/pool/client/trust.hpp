// Checks whether a program may trust the process that listens at the daemon's socket, to which
// programs send descriptors of their files. Safe in signal handlers.
#pragma once

#include <sys/types.h>

namespace forebay::pool {

// To be called before connecting: the directory of `socket` has to belong to this user and be
// closed to others. Returns null, or the problem. A directory that does not exist is no problem
// here: connect() fails then.
[[nodiscard]] const char* folder_problem(const char* socket) noexcept;

// To be called on a connected socket: checks SO_PEERCRED. Returns null, or the problem. `daemon` is
// the process that has to listen; 0: any process of this user. If the kernel reports no process
// number (the peer is in another PID namespace), only the user is checked.
[[nodiscard]] const char* listener_problem(int socket, pid_t daemon) noexcept;

// The daemon's process number, from `told`, which is "PROCESS:SOCKET" as `forebay run` sets it, or
// null. Returns 0 if `told` is malformed or names another socket than `socket`.
[[nodiscard]] pid_t daemon_of(const char* told, const char* socket) noexcept;

}  // namespace forebay::pool
