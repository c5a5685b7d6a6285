// The daemon's event loop (epoll), on one thread: everything that may take long is left to other
// threads.
#include "pool/daemon/server.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/base/printable.hpp"
#include "foundation/kernel/newer_calls.hpp"
#include "pool/daemon/listener/socket.hpp"
#include "pool/protocol/messages.hpp"
#include "storage/posix/notebook_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace forebay::daemon {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How long the loop sleeps at most. Clients announce deposits by no message, so their logs are
// polled: soon after a turn in which something was done, since more is likely to follow; every
// millisecond while anything is to be drained or answered; and 50 times a second while there are
// clients. Without clients, only events wake the loop (and heartbeats of other daemons are sent).
constexpr nanoseconds after_something = std::chrono::microseconds{200};
constexpr nanoseconds while_busy = milliseconds{1};
constexpr nanoseconds while_idle = milliseconds{20};
constexpr nanoseconds without_clients = std::chrono::hours{1};

// After a question or an answer, the loop yields the core for this long before it sleeps, since
// sleeping and being woken takes about as long.
constexpr nanoseconds near_for = std::chrono::microseconds{60};

// Bounds for one turn, so that no client keeps the others waiting: questions of one session, and
// new connections.
constexpr std::size_t questions_at_once = 16;
constexpr std::size_t connections_at_once = 8;
// How soon the listener is tried again when no descriptor was left even to reject a connection. It
// stays readable meanwhile, so that watching it would make the loop busy.
constexpr nanoseconds accepting_rests_for = milliseconds{100};
// How long connections wait for a descriptor before they are rejected, and the pool closes down. A
// file gives its descriptor back when it is drained and was left alone for a second.
constexpr nanoseconds shortage_max = std::chrono::seconds{20};
// The data of an epoll event are a Source in the lowest bits, and above it a session's number.
constexpr std::uint64_t source_bits = 3;

void note(const std::string& text) {
    std::fprintf(stderr, "forebayd: %s\n", printable(text).c_str());
}

// Resets an eventfd.
void empty_bell(int bell) {
    std::uint64_t rings = 0;
    static_cast<void>(::read(bell, &rings, sizeof rings));
}

int wait_for_events(int epoll, std::span<epoll_event> events, nanoseconds wait_max) {
    constexpr std::int64_t second = 1'000'000'000;
    const timespec limit{wait_max.count() / second, wait_max.count() % second};
    const int count = static_cast<int>(events.size());
    return std::max(kernel::epoll_wait(epoll, events.data(), count, limit), 0);
}

protocol::ClientQuestion question_of_another_version() {
    constexpr std::string_view program = "a program with a library of another version of Forebay";
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::uncaptured;
    question.flags = protocol::itself;
    static_assert(program.size() < pool::path_bytes);
    std::ranges::copy(program, question.path.begin());
    return question;
}

}  // namespace

Result<std::unique_ptr<DaemonServer>> DaemonServer::make(const ServerOptions& options,
                                                         const DaemonClocks& clocks,
                                                         cluster::PeerConnections* peers) {
    Result<SocketListener> listener = SocketListener::open(options.socket);
    if (!listener) {
        return failure(std::move(listener.error()));
    }
    Result<std::unique_ptr<InodesFile>> inodes =
        InodesFile::make(listener->path() + pool::KnownInodes::suffix);
    if (!inodes) {
        return failure(std::move(inodes.error()));
    }
    DaemonOptions daemon_options = options.daemon;
    daemon_options.inodes = &(*inodes)->inodes();
    Result<std::unique_ptr<DaemonContext>> context =
        DaemonContext::make(daemon_options, clocks, peers);
    if (!context) {
        return failure(std::move(context.error()));
    }
    OwnFd epoll{::epoll_create1(EPOLL_CLOEXEC)};
    if (!epoll.valid()) {
        return failure(system_error(errno, "wait for clients"));
    }
    std::unique_ptr<DaemonServer> made{new DaemonServer{options,
                                                        {.listener = std::move(*listener),
                                                         .inodes = std::move(*inodes),
                                                         .context = std::move(*context),
                                                         .epoll = std::move(epoll)},
                                                        peers}};
    if (peers != nullptr) {
        if (auto watched = made->watch(peers->descriptor(), Source::peers, 0); !watched) {
            return failure(std::move(watched.error()));
        }
    }
    if (auto watched = made->watch(made->listener_.socket(), Source::listener, 0); !watched) {
        return failure(std::move(watched.error()));
    }
    const int journal = made->context_->journal_bell();
    if (auto watched = journal < 0 ? Result<void>{} : made->watch(journal, Source::journal, 0);
        !watched) {
        return failure(std::move(watched.error()));
    }
    made->print_notes();
    return made;
}

DaemonServer::DaemonServer(const ServerOptions& options, Parts parts,
                           cluster::PeerConnections* peers)
    : options_{options},
      listener_{std::move(parts.listener)},
      inodes_{std::move(parts.inodes)},
      context_{std::move(parts.context)},
      dispatcher_{*context_},
      shutdown_{*context_},
      epoll_{std::move(parts.epoll)},
      peers_{peers} {
    expects((peers_ != nullptr) == context_->coherence.has_value(),
            "tokens are there where other daemons are");
}

DaemonServer::~DaemonServer() = default;

Result<void> DaemonServer::watch(int fd, Source source, std::uint64_t number) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = number << source_bits | static_cast<std::uint64_t>(source);
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        return failure(system_error(errno, "wait for clients"));
    }
    return {};
}

Result<void> DaemonServer::listen(OwnFd signals) {
    signals_ = std::move(signals);
    return watch(signals_.get(), Source::signals, 0);
}

void DaemonServer::stop_when_closed(int owner) {
    if (watch(owner, Source::owner, 0)) {
        owner_ = owner;
    }
}

void DaemonServer::read_lifeline() {
    expects(owner_ >= 0, "an owner is heard where there is one");
    std::array<char, 512> words{};
    if (::read(owner_, words.data(), words.size()) == 0) {
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, owner_, nullptr);
        stop();
    }
}

nanoseconds DaemonServer::patience() const {
    if (ended_) {
        return nanoseconds{0};
    }
    if (did_something_) {
        return after_something;
    }
    if (!context_->idle()) {
        return while_busy;
    }
    if (peers_ != nullptr && peers_->has_something_for_later()) {
        return nanoseconds{cluster::PeerConnections::later_ns};
    }
    const nanoseconds most =
        peers_ != nullptr ? nanoseconds{cluster::PeerConnections::heartbeat_ns} : without_clients;
    const nanoseconds until_news = dispatcher_.has_clients() ? while_idle : most;
    return accepts_again_at_ ? std::min(until_news, accepting_rests_for) : until_news;
}

// True when a question may follow at once: a client that has asked once often asks again, and
// another daemon's answer comes soon.
bool DaemonServer::something_is_near() const {
    return std::chrono::steady_clock::now() < next_question_near_ ||
           (peers_ != nullptr && peers_->answer_may_be_near());
}

void DaemonServer::run() {
    while (!ended_) {
        run_once(patience());
    }
}

void DaemonServer::run_once(nanoseconds wait_max) {
    std::array<epoll_event, 64> events;
    int got = 0;
    const auto begin = std::chrono::steady_clock::now();
    auto waited = nanoseconds{0};
    accept_again_if_due();
    while (got == 0 && waited < wait_max && something_is_near() && yielding_.pays()) {
        yielding_.yield();
        got = wait_for_events(epoll_.get(), events, nanoseconds{0});
        waited = std::chrono::steady_clock::now() - begin;
    }
    if (got == 0) {
        got = wait_for_events(epoll_.get(), events, std::max(wait_max - waited, nanoseconds{0}));
    }
    for (const epoll_event& event : std::span{events}.first(static_cast<std::size_t>(got))) {
        constexpr std::uint64_t mask = (1U << source_bits) - 1;
        handle(static_cast<Source>(event.data.u64 & mask), event.data.u64 >> source_bits,
               event.events);
    }
    if (shutdown_.close_before_the_job_ends()) {
        note(
            "the batch job will end. What the pool has is being drained; writes go to the file "
            "system from now on.");
    }
    if (peers_ != nullptr) {
        read_peers();
    }
    did_something_ = context_->run_once();
    did_something_ = dispatcher_.run_once() || did_something_;
    print_notes();
    resume_requests();
    if (!ended_ && shutdown_.is_complete()) {
        finish();
    }
}

void DaemonServer::print_notes() {
    for (const std::string& one : context_->new_notes()) {
        note(one);
    }
}

void DaemonServer::handle(Source source, std::uint64_t number, std::uint32_t events) {
    if (source == Source::listener) {
        accept_all();
        return;
    }
    if (source == Source::peers) {
        return;  // read_peers() is called in each turn anyway
    }
    if (source == Source::owner) {
        read_lifeline();
        return;
    }
    if (source == Source::signals) {
        read_signals();
        return;
    }
    if (source == Source::journal) {
        empty_bell(context_->journal_bell());
        return;
    }
    const auto found = sessions_.find(number);
    if (found == sessions_.end()) {
        return;  // the session was closed in this turn
    }
    Session& session = found->second;
    if (source == Source::bell) {
        if (session.bell.valid()) {
            empty_bell(session.bell.get());
        }
        return;
    }
    const bool gone = (events & (EPOLLHUP | EPOLLERR)) != 0;
    if (gone && !session.reads()) {
        cut_off(session);
    } else if (gone || (events & EPOLLIN) != 0) {
        read(number, session);
    }
    tend(number, session);
}

void DaemonServer::accept_all() {
    for (std::size_t i = 0; i < connections_at_once; ++i) {
        const bool is_short_for_long =
            short_since_ && std::chrono::steady_clock::now() - *short_since_ > shortage_max;
        IncomingConnection incoming =
            listener_.next(is_short_for_long ? SocketListener::Shortage::reject
                                             : SocketListener::Shortage::leave_queued);
        if (incoming.socket.valid() && sessions_.size() >= sessions_max) {
            incoming = {.refused = "too many processes are connected", .no_room = true};
        }
        if (incoming.socket.valid()) {
            short_since_.reset();
        }
        if (incoming.stays_queued) {
            free_descriptors(incoming);
        } else if (!incoming.refused.empty()) {
            note("sent somebody away (" + incoming.refused + ").");
        }
        if (incoming.no_room && (!incoming.stays_queued || is_short_for_long)) {
            // A rejected client does not see what is pooled, so nothing may be pooled any more.
            context_->pool.close_down(pool::ThroughReason::full);
        }
        if (!incoming.socket.valid()) {
            return;
        }
        const std::uint64_t number = next_session_++;
        const int fd = incoming.socket.get();
        sessions_.try_emplace(number, std::move(incoming.socket), incoming.process);
        if (!watch(fd, Source::session, number)) {
            sessions_.erase(number);
            return;
        }
        sessions_.at(number).watched = EPOLLIN;
        ensures(sessions_.size() <= sessions_max, "so many connections are served at a time");
    }
}

// No descriptor is left for a connection, which waits in the queue meanwhile. The pool is drained,
// since only files without deposits can give their descriptors back.
void DaemonServer::free_descriptors(const IncomingConnection& waiting) {
    expects(waiting.stays_queued, "a connection waits for a descriptor");
    if (!short_since_) {
        short_since_ = std::chrono::steady_clock::now();
        static_cast<void>(context_->pool.drain_all());
        note("leaves a connection waiting (" + waiting.refused +
             "). Start the daemon with more (`ulimit -n`).");
    }
    context_->give_descriptors_back();
    rest_from_accepting();
}

void DaemonServer::watch_listener(std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = static_cast<std::uint64_t>(Source::listener);
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.socket(), &event);
}

void DaemonServer::rest_from_accepting() {
    accepts_again_at_ = std::chrono::steady_clock::now() + accepting_rests_for;
    watch_listener(0);
}

void DaemonServer::accept_again_if_due() {
    if (accepts_again_at_ && std::chrono::steady_clock::now() >= *accepts_again_at_) {
        accepts_again_at_.reset();
        watch_listener(EPOLLIN);
    }
}

void DaemonServer::read_signals() {
    expects(signals_.valid(), "signals are heard where they are listened for");
    signalfd_siginfo heard{};
    while (::read(signals_.get(), &heard, sizeof heard) == static_cast<ssize_t>(sizeof heard)) {
        if (heard.ssi_signo == SIGUSR1) {
            context_->pool.close_down(pool::ThroughReason::job_ends);
        } else if (shutdown_.has_begun()) {
            give_up();
        } else {
            stop();
        }
    }
}

void DaemonServer::read(std::uint64_t number, Session& session) {
    for (std::size_t i = 0; i < questions_at_once && session.reads(); ++i) {
        if (!take_question(number, session)) {
            return;
        }
    }
}

// False: there was none, or the session is not read from any more.
bool DaemonServer::take_question(std::uint64_t number, Session& session) {
    ReceivedMessage received = receive(session.socket(), sizeof(protocol::ClientQuestion));
    if (received.arrival == ReceiveResult::nothing) {
        return false;
    }
    if (received.arrival == ReceiveResult::end) {
        cut_off(session);
        return false;
    }
    const auto question = protocol::question_of(received.bytes);
    if (!question) {
        note("ended a connection (what process " + std::to_string(session.process()) +
             " said is no question; it may be of another version).");
        if (session.client || session.stands_for_uncaptured) {
            Dispatcher::reject_malformed(session);
            return false;
        }
        if (session.process() <= 0) {  // of another PID namespace: its end cannot be seen
            context_->pool.close_down(pool::ThroughReason::full);
        }
        // The process goes on beside the pool, as one that is not captured: it is answered when all
        // files have left, and they stay out until it has ended.
        dispatcher_.receive(session, question_of_another_version(), {});
        return true;
    }
    next_question_near_ = std::chrono::steady_clock::now() + near_for;
    const bool had_bell = session.bell.valid();
    dispatcher_.receive(session, *question, std::move(received.descriptors));
    if (!had_bell && session.bell.valid() && !watch(session.bell.get(), Source::bell, number)) {
        session.end();
    }
    if (question->ask == protocol::QuestionKind::stop) {
        stop();
    }
    return true;
}

void DaemonServer::read_peers() {
    peers_->run_once();
    for (const std::string& complaint : peers_->complaints()) {
        note(complaint + ".");
    }
    if (context_->coherence->somebody_died()) {
        note(
            "the daemon of another node has died, and what it had not drained is lost. What this "
            "one has is being drained; writes go to the file system from now on.");
    }
}

// Ends the session without sending its replies: the other side has gone, or is not to be served.
void DaemonServer::cut_off(Session& session) {
    session.end();
    dispatcher_.drop_replies(session);
}

void DaemonServer::close_distrusted(Session& session) {
    if (session.client && context_->pool.distrusted(*session.client)) {
        note("ended a connection (the log of process " + std::to_string(session.process()) +
             " makes no sense). What it had written before is kept.");
        cut_off(session);
    }
}

void DaemonServer::resume_requests() {
    const std::vector<ReturnedTicket> returned = context_->tickets.returned();
    shutdown_.look_for_end_of_draining(returned);
    const Dispatcher::Progress progress = dispatcher_.resume(returned);
    if (progress.any) {
        next_question_near_ = std::chrono::steady_clock::now() + near_for;
    }
    did_something_ = did_something_ || progress.asks_again;
    for (auto at = sessions_.begin(); at != sessions_.end();) {
        auto& [number, session] = *at++;
        close_distrusted(session);
        if (session.owes_replies() || session.ended()) {
            tend(number, session);
        }
    }
}

// Sends replies that are due, then adapts the events that epoll reports for the session, or closes
// it if it has ended.
void DaemonServer::tend(std::uint64_t number, Session& session) {
    if (!session.send()) {
        cut_off(session);
    }
    if (session.ended()) {
        dispatcher_.end_session(session);
        sessions_.erase(number);  // closing a descriptor also removes it from epoll
        return;
    }
    const std::uint32_t wanted =
        (session.reads() ? EPOLLIN : 0U) | (session.blocked() ? EPOLLOUT : 0U);
    if (wanted != session.watched) {
        epoll_event event{};
        event.events = wanted;
        event.data.u64 = number << source_bits | static_cast<std::uint64_t>(Source::session);
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, session.socket(), &event);
        session.watched = wanted;
    }
}

void DaemonServer::stop() { shutdown_.begin(); }

void DaemonServer::give_up() {
    if (!ended_) {
        gave_up_ = true;
        finish();
    }
}

void DaemonServer::finish() {
    expects(!ended_, "the daemon ends once");
    if (peers_ != nullptr) {
        context_->coherence->announce_shutdown();
        peers_->flush();
    }
    rescued_ = shutdown_.save(options_.rescue_folders);
    print_notes();
    adapters::NotebookFile report{listener_.path() + ".report"};
    report_ = context_->status(true, rescued_);
    if (const auto written = report.write(report_ + "\n"); !written) {
        note(written.error().message);
    }
    shutdown_.end(rescued_.empty() ? ShutdownOutcome::well : ShutdownOutcome::badly);
    dispatcher_.reply_to_stops(shutdown_.error_of(rescued_));
    for (auto& [number, session] : sessions_) {
        static_cast<void>(session.send());
    }
    ended_ = true;
}

}  // namespace forebay::daemon
