// How a process becomes a client: whether the daemon has room for it, and the memory that it gets
// to map.
#include "foundation/base/atomics.hpp"
#include "pool/daemon/requests/dispatcher.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/eventfd.h>
#include <utility>

namespace forebay::daemon {

namespace {

constexpr const char* no_means =
    "There is no memory, or no descriptor, for one more process that uses the pool.";

}  // namespace

void Dispatcher::pass_directory(Answer& answer) const {
    if (answer.pass(segment_.for_reading())) {
        answer.reply.number = static_cast<std::int64_t>(sizeof(pool::Directory));
    }
}

void Dispatcher::hello(Session& session, const protocol::Question& question, Answer& answer) {
    // A client that did without may do better now; other nodes may count on what it has opened.
    const bool comes_in = session.outside && !coherence_;
    if (session.client && !comes_in) {
        answer.refuse(EALREADY);
        return;
    }
    using Means = DescriptorBudget::Means;
    const Means means = DescriptorBudget::means_of_one_more();
    if (session.client && means != Means::log) {
        answer.refuse(EAGAIN);
        return;
    }
    if (session.client) {
        leave(session);
    }
    if (means == Means::socket) {
        let_in_outside(session, question, answer);
        return;
    }
    OwnFd bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    OwnFd client_bell{bell.valid() ? ::fcntl(bell.get(), F_DUPFD_CLOEXEC, 0) : -1};
    Result<pool::Log> log = memory_.prepare();
    if (means == Means::none || !client_bell.valid() || !log) {
        memory_.discard();
        reject_client(answer, log ? EMFILE : errno_of(log.error()), no_means);
        return;
    }
    const auto client = admit(session, question, *log, answer);
    if (!client) {
        return;
    }
    session.client = client;
    session.bell = std::move(bell);
    answer.reply.client = *client;
    pass_directory(answer);
    if (answer.reply.error == 0 && answer.pass(memory_.segment(*client).for_writing())) {
        answer.descriptors.push_back(std::move(client_bell));
        if (clean_.segment().made()) {
            answer.pass(clean_.segment().for_reading());
        }
    }
    if (answer.reply.error != 0) {
        leave(session);
        reject_client(answer, answer.reply.error, no_means);
    }
}

// Without a log and a bell. It keeps its socket, and has files that it opens leave the pool, as a
// process that cannot map what it got.
void Dispatcher::let_in_outside(Session& session, const protocol::Question& question,
                                Answer& answer) {
    if (give_descriptors_back() && (question.flags & protocol::last_try) == 0) {
        answer.refuse(EAGAIN);  // there will be some in a moment
        return;
    }
    const Result<pool::Log> log = memory_.prepare();
    if (!log) {
        reject_client(answer, errno_of(log.error()), no_means);
        return;
    }
    const auto client = admit(session, question, *log, answer);
    if (!client) {
        return;
    }
    memory_.keep_to_itself(*client);
    session.client = client;
    session.outside = true;
    answer.reply.client = *client;
    answer.reply.number = 0;
    if (!std::exchange(outside_told_, true)) {
        journal_.notes.emplace_back(
            "process " + std::to_string(session.process()) +
            " does without the pool, and so may others (there are no descriptors for their logs). "
            "Files that they open leave the pool. Start the daemon with more (`ulimit -n`).");
    }
}

// nullopt: the answer says why.
std::optional<std::uint32_t> Dispatcher::admit(const Session& session,
                                               const protocol::Question& question,
                                               const pool::Log& log, Answer& answer) {
    const auto process = session.process() > 0 ? session.process() : question.number;
    const auto client = pool_.admit(static_cast<std::uint64_t>(process), log);
    if (client) {
        memory_.assign(*client);
        return client;
    }
    memory_.discard();
    if (!departing_.empty() && (question.flags & protocol::last_try) == 0) {
        answer.refuse(EAGAIN);  // a place comes free once what a program left is drained
    } else {
        reject_client(answer, EUSERS,
                      "More than " + std::to_string(pool::clients_max) +
                          " processes use the pool at a time.");
    }
    return std::nullopt;
}

void Dispatcher::pass_log(const protocol::Question& question, Answer& answer) const {
    const auto client = static_cast<std::uint32_t>(question.number);
    const SharedSegment& segment = memory_.segment(client);
    answer.reply.client = client;
    if (!segment.made()) {
        answer.refuse(ENOENT);
        return;
    }
    answer.pass(segment.for_reading());
}

void Dispatcher::pass_lent_log(const protocol::Question& question, Answer& answer) const {
    const SharedSegment* const segment = memory_.lent(question.group);
    if (segment == nullptr || !segment->made()) {
        answer.refuse(ENOENT);
        return;
    }
    answer.pass(segment->for_writing());
}

// It would not see what is in the pool, and would write past it: so nothing may be there.
void Dispatcher::reject_client(Answer& answer, int error, const std::string& why) {
    if (directory_.header.closing.load(relaxed) == 0) {
        close_down(pool::Reason::full);
        journal_.notes.push_back(why + " From now on all is written through.");
    }
    answer.refused = error;
    answer.ticket = next_opening_++;
    sent_away_.push_back(*answer.ticket);
}

// But for what cannot be drained.
bool Dispatcher::everything_has_left() {
    history_.look();
    return std::ranges::all_of(history_.slots(), [this](std::uint32_t slot) {
        const pool::FileSlot& file = directory_.files[slot];
        const pool::FileState state = file.state.load(relaxed);
        return state == pool::FileState::through || state == pool::FileState::free ||
               file.error.load(relaxed) != 0;
    });
}

}  // namespace forebay::daemon
