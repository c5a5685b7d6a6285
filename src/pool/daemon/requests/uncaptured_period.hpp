// The time in which programs run that are not captured: all files leave the pool before the first
// one begins, and come back when the last one has ended.
#pragma once

#include "pool/daemon/requests/uncaptured.hpp"
#include "pool/daemon/session.hpp"
#include "pool/protocol/messages.hpp"

namespace forebay::daemon {

struct DaemonContext;
class PendingRequests;

class UncapturedPeriod {
public:
    // It outlives this.
    explicit UncapturedPeriod(DaemonContext& daemon) : daemon_{daemon} {}

    // The process of the session begins to run such a program, or names one that does. Files begin
    // to leave.
    void begin(Session& session, const protocol::ClientQuestion& question);
    // It did not begin after all.
    void not_begun(const Session& session);
    // What the session stood for has closed its connection.
    void session_ended(Session& session);

    // Files that are opened leave, too.
    [[nodiscard]] bool keeps_files_out() const noexcept { return keeps_files_out_; }
    // Where all have ended, and nobody waits for files to leave. Those that are still being drained
    // come back later. True when anything was done.
    bool bring_files_back(const PendingRequests& pending);

private:
    DaemonContext& daemon_;
    UncapturedPrograms programs_;
    bool keeps_files_out_ = false;  // files left for one, and have not come back
};

}  // namespace forebay::daemon
