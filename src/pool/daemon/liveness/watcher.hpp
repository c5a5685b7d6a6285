// A process beside the daemon of a job that reports what the daemon took along if it dies: the
// memory that holds this outlives the daemon, but only on its own node.
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

// The files of a daemon that has died whose deposits were taken and not written yet.
[[nodiscard]] std::string told_by_watcher(const pool::Directory& directory, std::uint32_t node,
                                          const std::string& host);

}  // namespace forebay::daemon
