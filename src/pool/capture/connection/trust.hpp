// Whether who listens at the daemon's socket may be told anything: programs send it descriptors of
// their files. Safe in signal handlers.
#pragma once

#include <sys/types.h>

namespace forebay::capture {

// Before connecting: null, or what is wrong with the folder of the socket, which has to be this
// user's and closed to others. One that is not there is for connect() to tell.
[[nodiscard]] const char* folder_problem(const char* socket) noexcept;

// Of a connected socket: null, or who listens. `daemon`: the process that it has to be; 0: not
// known. Where the kernel cannot name a process (that is in another PID namespace), the user alone
// is looked at.
[[nodiscard]] const char* listener_problem(int socket, pid_t daemon) noexcept;

// What `forebay run` says of the daemon of this socket, as "PROCESS:SOCKET"; 0: nothing.
[[nodiscard]] pid_t daemon_of(const char* told, const char* socket) noexcept;

}  // namespace forebay::capture
