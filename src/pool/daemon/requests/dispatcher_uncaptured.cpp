// The part of the dispatcher that has to do with programs that nobody captures: all files leave
// before one begins, and come back when the last one has ended.
#include "foundation/base/atomics.hpp"
#include "pool/daemon/requests/dispatcher.hpp"

#include <cerrno>
#include <string>

namespace forebay::daemon {

// The answer waits until nothing is in the pool that the program would miss.
void Dispatcher::make_room_for_uncaptured(Session& session, const protocol::Question& question,
                                          Answer& answer) {
    if ((question.flags & protocol::not_started) != 0) {
        uncaptured_.forget(session.process());
        return;
    }
    const std::string program{question.path.data()};
    if (uncaptured_.all_have_ended() && !uncaptured_told_) {
        uncaptured_told_ = true;
        journal_.notes.push_back("all files are written through while " + program +
                                 " runs, and while other programs do that do not go through "
                                 "Forebay either.");
    }
    if (!session.uncaptured) {
        session.uncaptured = true;
        uncaptured_.connected();
    }
    // A number means the same here only where both see the same processes.
    const std::int64_t itself = session.process();
    const bool is_itself = (question.flags & protocol::itself) != 0;
    const bool same_numbers = question.inode == static_cast<std::uint64_t>(itself);
    if (itself > 0 && (is_itself || (same_numbers && question.number > 0))) {
        uncaptured_.watch(is_itself ? itself : question.number);
    }
    runs_uncaptured_ = true;
    history_.look();
    pool::Task leave;
    leave.kind = pool::Task::Kind::leave;
    leave.reason = pool::Reason::uncaptured;
    static_cast<void>(pool_.ask_each(history_.slots(), leave));
    answer.ticket = next_opening_++;
    sent_away_.push_back(*answer.ticket);
}

void Dispatcher::end_of_connection(Session& session) {
    if (session.uncaptured) {
        session.uncaptured = false;
        uncaptured_.disconnected();
    }
}

// Those that are still being drained come back later.
bool Dispatcher::bring_back_after_uncaptured() {
    if (!runs_uncaptured_ || !sent_away_.empty() || !uncaptured_.all_have_ended()) {
        return false;
    }
    history_.look();
    bool all = true;
    for (const std::uint32_t slot : history_.slots()) {
        const pool::FileSlot& file = directory_.files[slot];
        if (file.reason.load(relaxed) == pool::Reason::uncaptured &&
            file.state.load(relaxed) != pool::FileState::free) {
            const int error = pool_.adjust(slot, file.generation.load(relaxed),
                                           {.back = true, .from = pool::Reason::uncaptured});
            all = all && (error == 0 || file.error.load(relaxed) != 0);
        }
    }
    runs_uncaptured_ = !all && directory_.header.closing.load(relaxed) == 0;
    return true;
}

}  // namespace forebay::daemon
