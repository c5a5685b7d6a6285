// Drains everything, rescues what cannot be drained, and tells clients how the daemon has ended.
#include "pool/daemon/shutdown/shutdown.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/daemon/rescue/rescue.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay::daemon {

namespace {

// How often the end of the batch job is compared with what is left to be drained (100 ms).
constexpr std::int64_t deadline_check_ns = 100'000'000;

}  // namespace

DaemonShutdown::DaemonShutdown(DaemonContext& daemon)
    : daemon_{daemon}, deadline_{daemon.options.job_end_ns, daemon.options.job_margin_ns} {}

bool DaemonShutdown::close_before_the_job_ends() {
    const std::int64_t now = daemon_.clocks.steady.now_ns();
    if (daemon_.options.job_end_ns == pool::DrainDeadline::never ||
        daemon_.directory.header.closing.load(relaxed) != 0 ||
        now - deadline_checked_ns_ < deadline_check_ns) {
        return false;
    }
    deadline_checked_ns_ = now;
    std::int64_t held = 0;
    daemon_.statistics.update();
    for (const std::uint32_t slot : daemon_.statistics.slots()) {
        const pool::FileSlot& file = daemon_.directory.files[slot];
        held += file.taken.load(relaxed) - file.drained.load(relaxed);
    }
    const bool passed = deadline_.passed(daemon_.clocks.calendar.now_ns(), held,
                                         daemon_.pool.counts().drained_bytes);
    if (passed) {
        daemon_.pool.close_down(pool::ThroughReason::job_ends);
        daemon_.refuse_handovers();
    }
    return passed;
}

void DaemonShutdown::begin() {
    if (has_begun()) {
        return;
    }
    daemon_.pool.close_down(pool::ThroughReason::closing);
    daemon_.refuse_handovers();
    draining_ = daemon_.tickets.drain_all();
}

void DaemonShutdown::look_for_end_of_draining(std::span<const ReturnedTicket> returned) {
    if (!draining_) {
        return;
    }
    const auto found = std::ranges::find(returned, Ticket{*draining_}, &ReturnedTicket::ticket);
    if (found != returned.end()) {
        invariant(!drained_, "a ticket comes back once");
        drained_ = true;
        drain_error_ = found->error;
    }
}

bool DaemonShutdown::drained_as_far_as_possible() const {
    return !daemon_.writes_for_others() && !daemon_.pool.closes_under_way() &&
           daemon_.tickets.openings_under_way() == 0 && daemon_.pool.all_taken() &&
           std::ranges::all_of(daemon_.statistics.slots(), [&](std::uint32_t slot) {
               const pool::FileSlot& file = daemon_.directory.files[slot];
               // A file that is written through is written by the clients themselves. A file with
               // records in the journal stays in `leaving` until it is durable.
               const bool left = file.state.load(relaxed) != pool::FileState::leaving;
               return (file.taken.load(relaxed) <= file.drained.load(relaxed) && left) ||
                      file.error.load(relaxed) != 0;
           });
}

std::vector<RescuedFile> DaemonShutdown::save(const std::vector<std::string>& folders) {
    expects(!saved_, "what did not arrive is rescued once");
    saved_ = true;
    daemon_.pool.refuse_commits();
    std::vector<RescuedFile> rescued = rescue(folders);
    finish_journal();
    return rescued;
}

std::vector<RescuedFile> DaemonShutdown::rescue(const std::vector<std::string>& folders) {
    daemon_.statistics.update();
    RescueFolder folder{folders, daemon_.clocks.calendar.now_ns()};
    std::vector<RescuedFile> rescued;
    for (const pool::FailedClose& one : daemon_.pool.failed_closes()) {
        rescued.push_back({.path = one.path,
                           .error = one.error,
                           .bytes = one.bytes,
                           .problem = "the file system told only when the file was closed, after "
                                      "it had taken all of them"});
    }
    for (const std::uint32_t slot : daemon_.statistics.slots()) {
        const std::vector<pool::Deposit> left = daemon_.pool.undrained(slot);
        const RescueTarget of = rescue_of(daemon_.directory.files[slot]);
        if (!left.empty()) {
            rescued.push_back(folder.keep(of, bytes_of(daemon_.directory, daemon_.memory, left)));
        }
        if (daemon_.pool.only_in_journal(slot)) {
            rescued.push_back({.path = of.path,
                               .error = of.error,
                               .problem = "what the file system took and did not make durable is "
                                          "in the journal: start a daemon with it again"});
        } else if (!left.empty() && !rescued.back().file.empty()) {
            daemon_.pool.kept_elsewhere(slot);
        }
    }
    return rescued;
}

void DaemonShutdown::finish_journal() {
    if (daemon_.journal.writer && !daemon_.pool.finish_journal()) {
        daemon_.notes.add("the journal " + daemon_.options.journal.folder +
                          " is kept. The next daemon that is started with it writes what "
                          "is in it.");
    }
}

int DaemonShutdown::error_of(const std::vector<RescuedFile>& rescued) const noexcept {
    return rescued.empty() || drain_error_ != 0 ? drain_error_ : EIO;
}

void DaemonShutdown::end(ShutdownOutcome ending) {
    expects(saved_, "what did not arrive is rescued before the daemon ends");
    expects(daemon_.ending == ShutdownOutcome::badly, "the daemon ends once");
    daemon_.ending = ending;
    if (ending == ShutdownOutcome::well) {
        daemon_.pool.end();
    }
    daemon_.directory.header.ended.store(
        ending == ShutdownOutcome::well ? pool::DaemonEnd::well : pool::DaemonEnd::badly,
        std::memory_order_release);
}

}  // namespace forebay::daemon
