// How the daemon ends: it takes no more deposits, drains everything that can be drained, and
// rescues the rest.
//
//   begin ─▶ everything is drained, or has an error ─▶ is_complete ─▶ save ─▶ end
//                                  (give_up comes at any time) ────────┘
#pragma once

#include "pool/daemon/daemon_context.hpp"
#include "pool/daemon/requests/tickets.hpp"
#include "pool/daemon/status/status.hpp"
#include "pool/policy/deadline.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::daemon {

class DaemonShutdown {
public:
    // The context outlives this object.
    explicit DaemonShutdown(DaemonContext& daemon);

    // Closes the pool down when the batch job ends so soon that draining must begin. True only in
    // the call that did.
    [[nodiscard]] bool close_before_the_job_ends();

    // Closes the pool down, and begins to drain everything. Only the first call has an effect.
    void begin();
    [[nodiscard]] bool has_begun() const noexcept { return draining_.has_value(); }
    // Looks for the ticket of draining everything among those that have returned.
    void look_for_end_of_draining(std::span<const ReturnedTicket> returned);
    // Everything that can be drained is, and no further deposit can come.
    [[nodiscard]] bool is_complete() const { return drained_ && drained_as_far_as_possible(); }

    // When is_complete(), or earlier if the daemon gives up. No further deposit is acknowledged.
    // Bytes that could not be drained go to rescue files in the first of `folders` that takes them;
    // those that only the journal has stay there for the next daemon.
    [[nodiscard]] std::vector<RescuedFile> save(const std::vector<std::string>& folders);
    // The errno for clients that have asked the daemon to stop: the first error of draining, or EIO
    // where something was rescued.
    [[nodiscard]] int error_of(const std::vector<RescuedFile>& rescued) const noexcept;
    // Called last: tells clients that the daemon has ended, and how. Before any connection is
    // closed, since a client looks at this when its connection ends.
    void end(ShutdownOutcome ending);

private:
    [[nodiscard]] bool drained_as_far_as_possible() const;
    [[nodiscard]] std::vector<RescuedFile> rescue(const std::vector<std::string>& folders);
    void finish_journal();

    DaemonContext& daemon_;
    pool::DrainDeadline deadline_;
    std::int64_t deadline_checked_ns_ = 0;
    std::optional<TaskTicket> draining_;  // the ticket of draining everything
    bool drained_ = false;                // the ticket has returned
    int drain_error_ = 0;                 // … with this errno
    bool saved_ = false;
};

}  // namespace forebay::daemon
