// A second process that unmounts when the serving process or the pool's daemon dies, so that the
// path is the plain directory again. It has no file of the mount open.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <string>
#include <sys/types.h>

namespace forebay::mount {

class MountWatcher {
public:
    // Forks the watcher. To be called before anything is mounted and before there are threads.
    // `daemon` is the daemon's process number; 0: there is no pool.
    [[nodiscard]] static Result<MountWatcher> beside(const std::string& path, pid_t daemon);
    // Makes the watcher unmount now.
    void unmount();

private:
    explicit MountWatcher(OwnFd line) noexcept : line_{std::move(line)} {}
    OwnFd line_;  // write end of a pipe; its end-of-file starts the watcher
};

}  // namespace forebay::mount
