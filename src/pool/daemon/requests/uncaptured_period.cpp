// Has all files leave the pool for uncaptured programs, and return afterwards.
#include "pool/daemon/requests/uncaptured_period.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/daemon/daemon_context.hpp"
#include "pool/daemon/requests/pending_requests.hpp"

#include <string>
#include <utility>

namespace forebay::daemon {

bool UncapturedPeriod::begin(Session& session, const protocol::ClientQuestion& question) {
    if (!mounts_see_all() && programs_.all_have_ended()) {
        const std::string program{question.path.data()};
        daemon_.notes.add_once(NoteOnce::uncaptured,
                               "all files are written through while " + program +
                                   " runs, and while other programs do that do not go through "
                                   "Forebay either.");
    }
    if (!session.stands_for_uncaptured) {
        session.stands_for_uncaptured = true;
        programs_.connected();
    }
    // question.inode is the number by which the asking process knows itself. If that is the number
    // that the kernel gives for the socket's other end, both are in one PID namespace, and
    // question.number means the same process here.
    const std::int64_t itself = session.process();
    const bool is_itself = (question.flags & protocol::itself) != 0;
    const bool same_numbers = question.inode == static_cast<std::uint64_t>(itself);
    if (itself > 0 && (is_itself || (same_numbers && question.number > 0))) {
        programs_.watch(is_itself ? itself : question.number);
    }
    ensures(session.stands_for_uncaptured, "the program counts as long as the connection is there");
    if (mounts_see_all()) {
        return false;
    }
    have_files_leave();
    return true;
}

void UncapturedPeriod::have_files_leave() {
    keeps_files_out_ = true;
    daemon_.statistics.update();
    // Nobody waits for these tickets: a request that does waits for all files to have left.
    static_cast<void>(daemon_.pool.ask_each(
        daemon_.statistics.slots(),
        {.kind = pool::FileTask::Kind::leave, .reason = pool::ThroughReason::uncaptured}));
}

void UncapturedPeriod::not_begun(const Session& session) { programs_.forget(session.process()); }

void UncapturedPeriod::session_ended(Session& session) {
    if (session.stands_for_uncaptured) {
        session.stands_for_uncaptured = false;
        programs_.disconnected();
    }
}

void UncapturedPeriod::mount_connected() noexcept {
    are_passed_ = are_passed_ && mounts_ > 0;
    ++mounts_;
}

void UncapturedPeriod::mount_gone() {
    expects(mounts_ > 0, "a mount that is gone was there");
    --mounts_;
    are_passed_ = true;
    have_files_leave_if_they_run("a mount has ended");
}

void UncapturedPeriod::written_past_mounts() {
    if (mounts_ > 0 && !std::exchange(are_passed_, true)) {
        have_files_leave_if_they_run("a file is written by another path than the mount's");
    }
}

void UncapturedPeriod::have_files_leave_if_they_run(const std::string& reason) {
    if (!programs_.all_have_ended()) {
        daemon_.notes.add_once(NoteOnce::uncaptured,
                               "all files are written through, as " + reason +
                                   " while programs run that do not go through Forebay.");
        have_files_leave();
    }
}

bool UncapturedPeriod::bring_files_back(const PendingRequests& pending) {
    if (!keeps_files_out_ || pending.wait_for_files_to_leave() || !programs_.all_have_ended()) {
        return false;
    }
    daemon_.statistics.update();
    bool all = true;
    for (const std::uint32_t slot : daemon_.statistics.slots()) {
        const pool::FileSlot& file = daemon_.directory.files[slot];
        if (file.reason.load(relaxed) == pool::ThroughReason::uncaptured &&
            file.state.load(relaxed) != pool::FileState::free) {
            const int error =
                daemon_.pool.adjust(slot, file.generation.load(relaxed),
                                    {.back = true, .from = pool::ThroughReason::uncaptured});
            all = all && (error == 0 || file.error.load(relaxed) != 0);
        }
    }
    keeps_files_out_ = !all && daemon_.directory.header.closing.load(relaxed) == 0;
    return true;
}

}  // namespace forebay::daemon
