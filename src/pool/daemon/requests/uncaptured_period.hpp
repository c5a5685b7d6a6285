// The time in which uncaptured programs run. All files leave the pool before the first one starts,
// and return when the last one has ended. While a mount is there, they stay: it serves the calls of
// every program, and sees all deposits. But not if files are written past the mounts: if one has
// ended, or does not cover all that captured programs bring into the pool.
#pragma once

#include "pool/daemon/requests/uncaptured.hpp"
#include "pool/daemon/session.hpp"
#include "pool/protocol/messages.hpp"

#include <cstddef>
#include <string>

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
    // A mount has connected, or is gone: its path is the plain folder again, and all files begin to
    // leave if such a program runs.
    void mount_connected() noexcept;
    void mount_gone();
    // A captured program has opened a file for writing by itself, and not by a mount. All files
    // begin to leave if there is a mount, and such a program runs.
    void written_past_mounts();

    // True in such a period: files that are opened meanwhile leave at once.
    [[nodiscard]] bool keeps_files_out() const noexcept { return keeps_files_out_; }
    // Lets the files return to the pool when all such programs have ended and no request waits for
    // files to leave. A file that is still being drained returns in a later call. True when
    // anything was done.
    bool bring_files_back(const PendingRequests& pending);

private:
    // Whether uncaptured programs see all deposits.
    [[nodiscard]] bool mounts_see_all() const noexcept { return mounts_ > 0 && !are_passed_; }
    void have_files_leave();
    void have_files_leave_if_they_run(const std::string& reason);

    DaemonContext& daemon_;
    UncapturedPrograms programs_;
    std::size_t mounts_ = 0;
    bool are_passed_ = false;  // files are written past the mounts, until the last one has ended
    bool keeps_files_out_ = false;  // files have left for such a program, and not all have returned
};

}  // namespace forebay::daemon
