// A forked child, for tests of what processes share.
#pragma once

#include "foundation/base/test_time.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace forebay::adapters {

// Forks a child that runs `does` and exits with the number that it returns; a child that takes
// longer than 100 s is killed. Returns its process id.
template <class Does>
[[nodiscard]] pid_t forked(const Does& does) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(test_seconds(100));
        ::_exit(does());
    }
    return child;
}

// The status of the child as waitpid() gives it, once it has ended; -1 if there is no such child.
[[nodiscard]] inline int status_of(pid_t child) {
    int status = -1;
    return ::waitpid(child, &status, 0) == child ? status : -1;
}

}  // namespace forebay::adapters
