// A process beside the daemon of a job that reports which deposits are lost if the daemon is
// killed. The memory that they are in can still be read then, but only on the daemon's own node.
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
    // Forks the watcher. If the daemon ends without having called dismiss(), the watcher prints a
    // line of JSON on standard output (schema/pool.md).
    [[nodiscard]] static Result<DaemonWatcher> beside(const pool::Directory& directory,
                                                      std::uint32_t node);

    // Tells the watcher to end without a report, as the daemon has reported how it ends.
    void dismiss() noexcept;

private:
    explicit DaemonWatcher(OwnFd line) noexcept : line_{std::move(line)} {}

    OwnFd line_;  // the writing end of a pipe that the watcher reads
};

// As JSON: the files that a dead daemon had in its pool, each with the bytes that were not drained.
[[nodiscard]] std::string told_by_watcher(const pool::Directory& directory, std::uint32_t node,
                                          const std::string& host);

}  // namespace forebay::daemon
