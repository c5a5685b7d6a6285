// How the daemon ends: no more deposits, everything drained that can be, the rest rescued.
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
    // It outlives this.
    explicit DaemonShutdown(DaemonContext& daemon);

    // Closes down once, when the batch job will end. True: it was now.
    [[nodiscard]] bool close_before_the_job_ends();

    // Closes down, and drains everything. Only the first call counts.
    void begin();
    [[nodiscard]] bool has_begun() const noexcept { return draining_.has_value(); }
    // Takes the ticket of draining everything, if it is among these.
    void look_for_end_of_draining(std::span<const ReturnedTicket> returned);
    // Everything is drained that can be, and nothing can arrive that has not arrived.
    [[nodiscard]] bool is_complete() const { return drained_ && drained_as_far_as_possible(); }

    // Then, or at any time. Nothing is acknowledged from now on that was not taken. What did not
    // arrive is written into rescue files below the first folder that takes them; what the journal
    // still has, it keeps for the next daemon.
    [[nodiscard]] std::vector<RescuedFile> save(const std::vector<std::string>& folders);
    // The error for those that asked for the end: of draining, or that something was not drained.
    [[nodiscard]] int error_of(const std::vector<RescuedFile>& rescued) const noexcept;
    // Last: clients see that the daemon has ended, and how. Before any connection is closed, since
    // a client looks at that when its connection ends.
    void end(ShutdownOutcome ending);

private:
    [[nodiscard]] bool drained_as_far_as_possible() const;
    [[nodiscard]] std::vector<RescuedFile> rescue(const std::vector<std::string>& folders);
    void finish_journal();

    DaemonContext& daemon_;
    pool::DrainDeadline deadline_;
    std::int64_t deadline_checked_ns_ = 0;
    std::optional<TaskTicket> draining_;  // everything
    bool drained_ = false;                // the ticket came back
    int drain_error_ = 0;                 // with this errno
    bool saved_ = false;
};

}  // namespace forebay::daemon
