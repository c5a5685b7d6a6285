// Programs that are not captured (statically linked, set-user-ID, started without LD_PRELOAD …) see
// and change what the file system has. While one of them may live, nothing is in the pool.
//
// The process that starts one says so over a separate connection, which the program and all that it
// starts inherit; and names the process, since a program may close what it has inherited. It lives
// as long as either is there.
#pragma once

#include "foundation/base/own_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::daemon {

class UncapturedPrograms {
public:
    // A connection stands for some from now on.
    void connected() noexcept { ++connections_; }
    // Nobody has its other end any more.
    void disconnected() noexcept;
    // A process of this node is one, or was not made one after all.
    void watch(std::int64_t process);
    void forget(std::int64_t process);
    // Looks at the processes. True: there is none, and no connection.
    [[nodiscard]] bool all_have_ended();

private:
    std::size_t connections_ = 0;
    struct Watched {
        std::int64_t number;
        OwnFd process;  // pidfd
    };
    std::vector<Watched> processes_;
};

}  // namespace forebay::daemon
