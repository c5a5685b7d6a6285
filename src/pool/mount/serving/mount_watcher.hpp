// A process beside the mount's, without a file of it: when the one that serves it or the daemon of
// the pool dies, it unmounts, and the path is the directory below again.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <string>
#include <sys/types.h>

namespace forebay::mount {

class MountWatcher {
public:
    // Before anything is mounted and before there are threads. `daemon`: 0 where there is none.
    [[nodiscard]] static Result<MountWatcher> beside(const std::string& path, pid_t daemon);
    // Unmounts now.
    void unmount();

private:
    explicit MountWatcher(OwnFd line) noexcept : line_{std::move(line)} {}
    OwnFd line_;  // its end is the sign
};

}  // namespace forebay::mount
