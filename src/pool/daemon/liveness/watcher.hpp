// A process beside the daemon of a job that says what the daemon took along if it dies: the memory
// in which that stands outlives it, but not on the node of who asks.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace forebay::daemon {

class DaemonWatcher {
public:
    // Forks. Where the daemon ends without dismiss(), the process prints a line of JSON on standard
    // output (schema/pool.md).
    [[nodiscard]] static Result<DaemonWatcher> beside(const pool::Directory& directory,
                                                      std::uint32_t node);

    // The daemon has said itself how it ends.
    void dismiss() noexcept;

private:
    explicit DaemonWatcher(OwnFd line) noexcept : line_{std::move(line)} {}

    OwnFd line_;  // the other end is the process'
};

// Files that hold what was taken and is not written yet. Of a daemon that has died.
[[nodiscard]] std::string told_by_watcher(const pool::Directory& directory, std::uint32_t node,
                                          const std::string& host);

}  // namespace forebay::daemon
