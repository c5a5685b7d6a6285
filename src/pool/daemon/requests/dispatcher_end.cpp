// The part of the dispatcher that has to do with ends: of the batch job, and of the daemon; and the
// status report, which comes last then.
#include "foundation/base/atomics.hpp"
#include "pool/daemon/requests/dispatcher.hpp"
#include "pool/daemon/rescue/rescue.hpp"
#include "pool/daemon/status/status.hpp"

#include <algorithm>

namespace forebay::daemon {

namespace {

constexpr std::int64_t deadline_look_ns = 100'000'000;

}  // namespace

void Dispatcher::close_down(pool::Reason why) {
    directory_.header.closing.store(1, relaxed);
    pool_.close_down(why);
}

std::uint64_t Dispatcher::stop() {
    close_down(pool::Reason::closing);
    return pool_.drain_all();
}

bool Dispatcher::close_before_the_job_ends() {
    const std::int64_t now = clock_.now_ns();
    if (options_.job_end_ns == pool::Deadline::never ||
        directory_.header.closing.load(relaxed) != 0 ||
        now - looked_at_deadline_ns_ < deadline_look_ns) {
        return false;
    }
    looked_at_deadline_ns_ = now;
    std::int64_t held = 0;
    history_.look();
    for (const std::uint32_t slot : history_.slots()) {
        const pool::FileSlot& file = directory_.files[slot];
        held += file.taken.load(relaxed) - file.drained.load(relaxed);
    }
    const bool passed = deadline_.passed(calendar_.now_ns(), held, pool_.counts().drained_bytes);
    if (passed) {
        close_down(pool::Reason::job_ends);
    }
    return passed;
}

bool Dispatcher::drained_as_far_as_possible() const {
    return !pool_.closing() && opening_ == 0 && pool_.all_taken() &&
           std::ranges::all_of(history_.slots(), [&](std::uint32_t slot) {
               const pool::FileSlot& file = directory_.files[slot];
               // From then on clients write to it themselves. A file with records in the journal
               // keeps leaving until it is durable.
               const bool left = file.state.load(relaxed) != pool::FileState::leaving;
               return (file.taken.load(relaxed) <= file.drained.load(relaxed) && left) ||
                      file.error.load(relaxed) != 0;
           });
}

void Dispatcher::end(Ending ending) {
    ending_ = ending;
    if (ending == Ending::well) {
        pool_.end();
    }
    directory_.header.ended.store(
        ending == Ending::well ? pool::DaemonEnd::well : pool::DaemonEnd::badly,
        std::memory_order_release);
}

std::vector<Rescued> Dispatcher::rescue(const std::vector<std::string>& folders) {
    history_.look();
    RescueFolder folder{folders, calendar_.now_ns()};
    std::vector<Rescued> rescued;
    for (const pool::FailedClose& one : pool_.failed_closes()) {
        rescued.push_back({.path = one.path,
                           .error = one.error,
                           .bytes = one.bytes,
                           .problem = "the file system told only when the file was closed, after "
                                      "it had taken all of them"});
    }
    for (const std::uint32_t slot : history_.slots()) {
        const std::vector<pool::Deposit> left = pool_.undrained(slot);
        const RescueOf of = rescue_of(directory_.files[slot]);
        if (!left.empty()) {
            rescued.push_back(folder.keep(of, bytes_of(directory_, memory_, left)));
        }
        if (pool_.only_in_journal(slot)) {
            rescued.push_back({.path = of.path,
                               .error = of.error,
                               .problem = "what the file system took and did not make durable is "
                                          "in the journal: start a daemon with it again"});
        } else if (!left.empty() && !rescued.back().file.empty()) {
            pool_.kept_elsewhere(slot);
        }
    }
    return rescued;
}

void Dispatcher::finish_journal() {
    if (journal_.writer && !pool_.finish_journal()) {
        journal_.notes.push_back("the journal " + options_.journal.folder +
                                 " is kept. The next daemon that is started with it writes what "
                                 "is in it.");
    }
}

std::vector<std::string> Dispatcher::news() {
    for (const pool::GivenUpWrite& one : pool_.given_up()) {
        journal_.notes.push_back(
            "process " + std::to_string(one.process) + " was in the middle of a write of " +
            std::to_string(one.bytes) + " bytes at " + std::to_string(one.offset) + " of " +
            one.path +
            ", and did not go on (is it suspended?). It writes them to the file itself when it "
            "goes on.");
    }
    if (const int error = pool_.journal_error(); error != 0 && !journal_failed_) {
        journal_failed_ = true;
        journal_.notes.push_back(
            system_error(error, "write the journal " + options_.journal.folder).message +
            " Until the daemon is started again, everything is written through.");
    }
    std::vector<std::string> fresh{journal_.notes.begin() + static_cast<std::ptrdiff_t>(told_),
                                   journal_.notes.end()};
    told_ = journal_.notes.size();
    return fresh;
}

std::string Dispatcher::durability_ended() const {
    const int error = pool_.journal_error();
    return error == 0 ? std::string{}
                      : system_error(error, "write the journal " + options_.journal.folder).message;
}

std::string Dispatcher::status(bool ended, const std::vector<Rescued>& rescued) {
    history_.look();
    const Moment moment{.now_ns = clock_.now_ns(),
                        .started_ns = started_ns_,
                        .ended = ended,
                        .memory = options_.memory,
                        .notes = journal_.notes,
                        .durability_ended = durability_ended(),
                        .from_nodes = passed_ ? passed_->bytes() : 0,
                        .to_nodes = passing_ ? passing_->bytes() : 0};
    return status_document(directory_, memory_, history_, moment, rescued);
}

}  // namespace forebay::daemon
