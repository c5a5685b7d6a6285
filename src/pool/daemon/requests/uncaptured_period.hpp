// The time in which uncaptured programs run. All files leave the pool before the first one starts,
// and return when the last one has ended. While a mount is there, they stay: it serves the calls of
// every program, and sees all deposits.
#pragma once

#include "pool/daemon/requests/uncaptured.hpp"
#include "pool/daemon/session.hpp"
#include "pool/protocol/messages.hpp"

#include <cstddef>

namespace forebay::daemon {

struct DaemonContext;
class PendingRequests;

class UncapturedPeriod {
public:
    // The context outlives this object.
    explicit UncapturedPeriod(DaemonContext& daemon) : daemon_{daemon} {}

    // The process of the session is about to run an uncaptured program, or names a process that
    // does. All files begin to leave, unless there is a mount. Returns whether they do.
    bool begin(Session& session, const protocol::ClientQuestion& question);
    // The program was not started after all.
    void not_begun(const Session& session);
    // Every process that had inherited the session's connection has closed it.
    void session_ended(Session& session);
    // A mount has connected, or is gone. Behind the last one, the pooled path is the plain folder
    // again: all files begin to leave if such a program runs.
    void mount_connected() noexcept { ++mounts_; }
    void mount_gone();

    // True in such a period: files that are opened meanwhile leave at once.
    [[nodiscard]] bool keeps_files_out() const noexcept { return keeps_files_out_; }
    // Lets the files return to the pool when all such programs have ended and no request waits for
    // files to leave. A file that is still being drained returns in a later call. True when
    // anything was done.
    bool bring_files_back(const PendingRequests& pending);

private:
    void have_files_leave();

    DaemonContext& daemon_;
    UncapturedPrograms programs_;
    std::size_t mounts_ = 0;
    bool keeps_files_out_ = false;  // files have left for such a program, and not all have returned
};

}  // namespace forebay::daemon
