// Admits a process as a client: with a log to map, without one where descriptors are scarce, or not
// at all.
#include "pool/daemon/requests/hello.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "foundation/base/error_number.hpp"
#include "pool/daemon/memory/budget.hpp"
#include "pool/daemon/requests/memory_questions.hpp"
#include "pool/daemon/requests/request_context.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <utility>

namespace forebay::daemon {

namespace {

using Means = DescriptorBudget::Means;

constexpr const char* no_means =
    "There is no memory, or no descriptor, for one more process that uses the pool.";

}  // namespace

NextStep HelloRequest::begin(const protocol::ClientQuestion& question,
                             std::vector<OwnFd> /*descriptors*/) {
    // A client that was admitted without a log may ask again for one, and is then admitted anew.
    // Not on several nodes: dismissing the client closes its files, and other nodes rely on their
    // tokens.
    const bool may_do_better = session().maps_nothing && !context().daemon.coherence;
    if (session().client && !may_do_better) {
        return refuse(EALREADY);
    }
    other_clock_ = has_other_clock(question);
    const Means means = other_clock_ ? Means::socket : DescriptorBudget::means_of_one_more();
    if (session().client && means != Means::log) {
        return refuse(EAGAIN);
    }
    if (session().client) {
        was_client_ = true;
        context().clients.dismiss(session());
    }
    switch (means) {
        case Means::log: return admit_with_log(question);
        case Means::socket: return admit_without_log(question);
        case Means::none: break;
    }
    return reject_for_want(EMFILE, question);
}

// The times of deposits put them in order, and tell which of them came before a close. A client may
// have another clock by libfaketime or in a time namespace.
bool HelloRequest::has_other_clock(const protocol::ClientQuestion& question) const {
    constexpr std::int64_t delay_ns_max = 60'000'000'000;  // of the question, on a busy machine
    const auto told = static_cast<std::int64_t>(question.group);
    const std::int64_t now = context().daemon.clocks.steady.now_ns();
    return told != 0 && (told > now || told < now - delay_ns_max);
}

// Only files without deposits can give their descriptors back: the pool is drained first. A process
// that was a client does not ask again: it would go on opening files beside the pool.
NextStep HelloRequest::reject_for_want(int error, const protocol::ClientQuestion& question) {
    const bool of_descriptors = error == EMFILE || error == ENFILE;
    if (!of_descriptors || was_client_ || (question.flags & protocol::last_try) != 0) {
        return reject(error, no_means);
    }
    drains_ = true;
    return context().daemon.tickets.drain_all();
}

NextStep HelloRequest::admit_with_log(const protocol::ClientQuestion& question) {
    expects(!session().client, "a process is admitted once");
    SharedLogMemory& memory = context().daemon.memory;
    OwnFd bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    OwnFd client_bell{bell.valid() ? ::fcntl(bell.get(), F_DUPFD_CLOEXEC, 0) : -1};
    const Result<pool::Log> log = memory.prepare();
    if (!client_bell.valid() || !log) {
        memory.discard();
        return reject_for_want(log ? EMFILE : errno_of(log.error()), question);
    }
    const auto client = admit(question, *log);
    if (!client) {
        return refuse_for_want_of_place(question);
    }
    session().client = client;
    session().bell = std::move(bell);
    if ((question.flags & protocol::by_mount) != 0 && !std::exchange(session().mounts, true)) {
        context().uncaptured.mount_connected();
    }
    reply().client = *client;
    pass_directory(context().daemon, queued());
    if (reply().error == 0 && queued().pass(memory.segment(*client).for_writing())) {
        queued().pass(std::move(client_bell));
        const SharedSegment& clean = context().daemon.clean.segment();
        if (clean.made()) {
            queued().pass(clean.for_reading());
        }
    }
    if (reply().error != 0) {
        context().clients.dismiss(session());
        return reject_for_want(reply().error, question);
    }
    return ReplyIsDue{};
}

// Admits the process without a log and an eventfd. The client keeps its socket, and a file that it
// opens leaves the pool, as it does for a process that cannot map the pool's memory.
NextStep HelloRequest::admit_without_log(const protocol::ClientQuestion& question) {
    expects(!session().client, "a process is admitted once");
    DaemonContext& daemon = context().daemon;
    if (!other_clock_ && daemon.give_descriptors_back() &&
        (question.flags & protocol::last_try) == 0) {
        return refuse(EAGAIN);  // give_descriptors_back() has begun to free some
    }
    const Result<pool::Log> log = daemon.memory.prepare();
    if (!log) {
        return reject_for_want(errno_of(log.error()), question);
    }
    const auto client = admit(question, *log);
    if (!client) {
        return refuse_for_want_of_place(question);
    }
    daemon.memory.keep_to_itself(*client);
    session().client = client;
    session().maps_nothing = true;
    reply().client = *client;
    reply().number = 0;
    tell_without_log();
    return ReplyIsDue{};
}

void HelloRequest::tell_without_log() const {
    const std::string who = "process " + std::to_string(session().process()) +
                            " does without the pool, and so may others (";
    DaemonNotes& notes = context().daemon.notes;
    if (other_clock_) {
        notes.add_once(NoteOnce::other_clock,
                       who +
                           "their CLOCK_MONOTONIC is not the daemon's, by libfaketime or a time "
                           "namespace). Files that they open leave the pool. Leave that clock as "
                           "it is: DONT_FAKE_MONOTONIC=1.");
        return;
    }
    notes.add_once(NoteOnce::no_descriptors,
                   who +
                       "there are no descriptors for their logs). Files that they open leave the "
                       "pool. Start the daemon with more (`ulimit -n`).");
}

std::optional<std::uint32_t> HelloRequest::admit(const protocol::ClientQuestion& question,
                                                 const pool::Log& log) const {
    const auto process = session().process() > 0 ? session().process() : question.number;
    const auto client = context().clients.admit(static_cast<std::uint64_t>(process), log);
    DaemonContext& daemon = context().daemon;
    daemon.clients_high = std::max(daemon.clients_high, context().clients.count());
    return client;
}

NextStep HelloRequest::refuse_for_want_of_place(const protocol::ClientQuestion& question) {
    if (context().clients.some_depart() && (question.flags & protocol::last_try) == 0) {
        // A place becomes free once the deposits of a departed client are drained.
        return refuse(EAGAIN);
    }
    return reject(EUSERS, "More than " + std::to_string(pool::clients_max) +
                              " processes use the pool at a time.");
}

NextStep HelloRequest::reject(int error, const std::string& why) {
    expects(error != 0, "a rejection has an error");
    DaemonContext& daemon = context().daemon;
    if (daemon.directory.header.closing.load(relaxed) == 0) {
        daemon.pool.close_down(pool::ThroughReason::full);
        daemon.notes.add(why + " From now on all is written through.");
    }
    rejected_ = error;
    return UntilFilesLeft{};
}

NextStep HelloRequest::go_on() {
    if (drains_) {
        context().daemon.give_descriptors_back();
        return refuse(EAGAIN);
    }
    expects(rejected_ != 0, "a process waits for a drain, or is rejected");
    return refuse(rejected_);
}

}  // namespace forebay::daemon
