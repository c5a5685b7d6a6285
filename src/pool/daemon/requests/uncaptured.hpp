// Which programs run on this node whose file calls are not captured (statically linked,
// set-user-ID, started without LD_PRELOAD …). They see and change only what the file system has; so
// as long as one of them may be alive, nothing is in the pool.
//
// The process that starts such a program tells the daemon over a separate connection, whose
// descriptor the program and its children inherit. It also names the process, since a program may
// close what it has inherited. The program counts as alive as long as the process or the connection
// exists.
#pragma once

#include "foundation/base/own_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::daemon {

class UncapturedPrograms {
public:
    // One more connection stands for uncaptured programs.
    void connected() noexcept { ++connections_; }
    // The last process that had inherited the connection has closed it.
    void disconnected() noexcept;
    // Starts to watch a process, by its number in the daemon's PID namespace; stops watching it,
    // because the program was not started after all.
    void watch(std::int64_t process);
    void forget(std::int64_t process);
    // Polls all processes. True when none is alive and no connection is open.
    [[nodiscard]] bool all_have_ended();

private:
    std::size_t connections_ = 0;
    struct Watched {
        std::int64_t number;
        OwnFd process;  // a pidfd
    };
    std::vector<Watched> processes_;
};

}  // namespace forebay::daemon
