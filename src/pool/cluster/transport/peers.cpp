// Connects to all other daemons of the job, authenticates them, and moves messages (epoll,
// edge-triggered), in the daemon's own thread.
#include "pool/cluster/transport/peers.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/cluster/transport/peer_address.hpp"
#include "pool/protocol/limits.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sodium.h>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace forebay::cluster {

namespace {

constexpr std::size_t accepted_at_once = 64;
constexpr std::string_view peers_schema = "forebay.pool.peers/1";

tl::unexpected<Error> cannot(const std::string& what, std::string_view why, std::string_view next) {
    return failure(
        Error{ErrorCode::argument, 0, fmt::format("cannot {} ({}). {}", what, why, next)});
}

struct AddrinfoDeleter {
    void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, AddrinfoDeleter>;

// Resolves "host:port". An IPv6 host may contain colons itself.
Result<Addresses> addresses_of(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string host = address.substr(0, colon);
    const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
    const int error = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
    if (error != 0) {
        return cannot("reach the daemon at " + address, ::gai_strerror(error),
                      "See whether this node knows that name.");
    }
    return Addresses{found};
}

void set_up(int socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// A socket that is connected to one of the numeric addresses of a host, or is being connected.
struct BegunConnection {
    OwnFd socket;
    std::size_t passed_over = 0;  // how many of the host's addresses come before that one
    bool has_next = false;        // the host has one more behind it
};

// Begins to connect to a numeric address of the host, but to none of the first `passed_over`.
Result<BegunConnection> connect_to(const std::string& address, std::size_t passed_over) {
    auto found = addresses_of(address);
    if (!found) {
        return failure(std::move(found.error()));
    }
    int error = EADDRNOTAVAIL;
    std::size_t number = 0;
    for (const addrinfo* one = found->get(); one != nullptr; one = one->ai_next, ++number) {
        if (number < passed_over) {
            continue;
        }
        OwnFd socket{::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        if (socket.valid() &&
            (::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0 || errno == EINPROGRESS)) {
            set_up(socket.get());
            return BegunConnection{std::move(socket), number, one->ai_next != nullptr};
        }
        error = errno;
    }
    return failure(system_error(error, "reach the daemon at " + address));
}

// The numeric address, without the port.
std::string source_of(const sockaddr_storage& name, socklen_t bytes) {
    std::array<char, NI_MAXHOST> host{};
    const int error = ::getnameinfo(reinterpret_cast<const sockaddr*>(&name), bytes, host.data(),
                                    host.size(), nullptr, 0, NI_NUMERICHOST);
    return error == 0 ? host.data() : "";
}

}  // namespace

Result<PeerList> peer_list_of(const std::string& line, std::uint32_t nodes) {
    constexpr std::string_view next = "`forebay pool` says it as it has to be.";
    const auto json = nlohmann::json::parse(line, nullptr, false);
    const auto text = [&](const char* name) {
        const bool there = json.is_object() && json.contains(name) && json[name].is_string();
        return there ? json[name].get<std::string>() : std::string{};
    };
    if (text("schema") != peers_schema || !json.contains("addresses") ||
        !json["addresses"].is_array()) {
        return cannot("take part in the job", "standard input does not say who else does", next);
    }
    PeerList list;
    for (const auto& one : json["addresses"]) {
        if (one.is_string()) {
            list.addresses.push_back(one.get<std::string>());
        }
    }
    if (list.addresses.size() != nodes) {
        return cannot("take part in the job",
                      fmt::format("standard input names {} daemons, --nodes says {}",
                                  list.addresses.size(), nodes),
                      next);
    }
    const std::string digits = text("secret");
    std::size_t bytes = 0;
    if (sodium_hex2bin(list.secret.data(), list.secret.size(), digits.data(), digits.size(),
                       nullptr, &bytes, nullptr) != 0 ||
        bytes != secret_bytes) {
        return cannot("take part in the job",
                      fmt::format("its secret is not of {} hexadecimal digits", 2 * secret_bytes),
                      next);
    }
    return list;
}

Result<std::unique_ptr<PeerConnections>> PeerConnections::listen(const std::string& host,
                                                                 const ClusterPlace& seat,
                                                                 const ports::TimeSource& clock) {
    if (sodium_init() < 0) {
        return cannot("talk to the other daemons of the job", "the kernel gives no random numbers",
                      "Use the pool on one node.");
    }
    Result<ListeningSocket> listener = listen_for_peers(host);
    if (!listener) {
        return failure(std::move(listener.error()));
    }
    OwnFd epoll{::epoll_create1(EPOLL_CLOEXEC)};
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;
    if (!epoll.valid() ||
        ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, listener->socket.get(), &event) != 0) {
        return failure(system_error(errno, "wait for the other daemons of the job"));
    }
    std::unique_ptr<PeerConnections> made{new PeerConnections{
        std::move(listener->socket), std::move(epoll), std::move(listener->address), seat, clock}};
    if (!listener->everywhere.empty()) {
        made->complaints_.push_back("waits for the other daemons at all interfaces (" +
                                    listener->everywhere + ")");
    }
    return made;
}

PeerConnections::PeerConnections(OwnFd listener, OwnFd epoll, std::string address,
                                 const ClusterPlace& seat, const ports::TimeSource& clock)
    : listener_{std::move(listener)},
      epoll_{std::move(epoll)},
      address_{std::move(address)},
      seat_{seat},
      clock_{clock},
      peers_(seat.nodes) {
    expects(seat.self < seat.nodes, "a daemon has a seat of its job");
}

PeerConnections::~PeerConnections() { sodium_memzero(secret_.data(), secret_.size()); }

// Adds a connection whose other side has still to prove who it is. Its events are edge-triggered: a
// PeerLink remembers that there is more to read.
void PeerConnections::meet(OwnFd socket, Whence whence) {
    expects(socket.valid(), "somebody is met by a socket");
    strangers_.push_back({std::make_unique<PeerLink>(std::move(socket), seat_, secret_),
                          std::move(whence), clock_.now_ns()});
    const PeerLink& link = *strangers_.back().link;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = strangers_.back().link.get();
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.socket(), &event);
}

bool PeerConnections::complete() const {
    for (tokens::Node node = 0; node < peers_.size(); ++node) {
        if (node != seat_.self && !peers_[node].link) {
            return false;
        }
    }
    return true;
}

std::string PeerConnections::missing_of(const PeerList& list) const {
    std::string missing;
    for (tokens::Node node = 0; node < peers_.size(); ++node) {
        if (node != seat_.self && !peers_[node].link) {
            missing += (missing.empty() ? "" : ", ") + list.addresses[node];
        }
    }
    return missing;
}

Result<void> PeerConnections::join(const PeerList& list) {
    expects(list.addresses.size() == seat_.nodes, "each daemon of the job has an address");
    secret_ = list.secret;
    for (tokens::Node node = 0; node < seat_.nodes; ++node) {
        peers_[node].name = list.addresses[node];
    }
    for (tokens::Node node = 0; node < seat_.self; ++node) {
        if (auto begun = reach(list.addresses[node], 0); !begun) {
            return begun;
        }
    }
    const std::int64_t until = clock_.now_ns() + join_ns;
    while (!complete()) {
        if (auto tried = reach_again(); !tried) {
            return tried;
        }
        if (!unmet_.empty()) {
            return cannot("take part in the job", unmet_,
                          "See what that daemon says; all of a job must be given one secret.");
        }
        if (clock_.now_ns() > until) {
            return cannot("take part in the job",
                          fmt::format("no answer from {}{}", missing_of(list),
                                      complaints_.empty() ? "" : "; " + complaints_.front()),
                          "See whether the nodes reach each other by TCP, or use one node.");
        }
        pollfd news{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
        constexpr int tick_ms = 100;
        ::poll(&news, 1, tick_ms);
        run_once();
    }
    // All daemons are connected, and none connects twice: anybody who comes now is not of this job.
    listener_ = OwnFd{};
    strangers_.clear();
    return {};
}

Result<void> PeerConnections::reach(const std::string& address, std::size_t passed_over) {
    auto begun = connect_to(address, passed_over);
    if (!begun) {
        return failure(std::move(begun.error()));
    }
    meet(std::move(begun->socket),
         {.address = address, .passed_over = begun->passed_over, .has_next = begun->has_next});
    return {};
}

// Connects again to what fail_to_reach() has noted.
Result<void> PeerConnections::reach_again() {
    const std::int64_t now = clock_.now_ns();
    std::vector<Again> due;
    std::erase_if(again_, [&](const Again& one) {
        const bool is_due = now >= one.at_ns;
        if (is_due) {
            due.push_back(one);
        }
        return is_due;
    });
    for (const Again& one : due) {
        if (auto begun = reach(one.address, one.passed_over); !begun) {
            return begun;
        }
    }
    return {};
}

// Accepts only some connections at a time, so that those that are there can prove who they are in
// between.
void PeerConnections::accept_all() {
    for (std::size_t i = 0; i < accepted_at_once; ++i) {
        sockaddr_storage name{};
        socklen_t bytes = sizeof name;
        OwnFd socket{::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&name), &bytes,
                               SOCK_CLOEXEC | SOCK_NONBLOCK)};
        if (!socket.valid() && (errno == EMFILE || errno == ENFILE) && reject_stranger()) {
            continue;
        }
        if (!socket.valid()) {
            return;
        }
        const auto came = std::ranges::count_if(
            strangers_, [](const Stranger& one) { return one.whence.address.empty(); });
        if (static_cast<std::size_t>(came) >= strangers_max) {
            static_cast<void>(reject_stranger());
        }
        set_up(socket.get());
        meet(std::move(socket), {.source = source_of(name, bytes)});
    }
}

// Closes one connection that has not been authenticated, to make room: the oldest one from the
// address with the most of them. A daemon of the job proves who it is at once, and few others come
// from its address.
bool PeerConnections::reject_stranger() {
    std::map<std::string, std::size_t> count;
    for (const Stranger& one : strangers_) {
        if (one.whence.address.empty()) {
            ++count[one.whence.source];
        }
    }
    const auto most =
        std::ranges::max_element(count, {}, [](const auto& one) { return one.second; });
    if (most == count.end()) {
        return false;
    }
    const auto oldest = std::ranges::find_if(strangers_, [&](const Stranger& one) {
        return one.whence.address.empty() && one.whence.source == most->first;
    });
    invariant(oldest != strangers_.end(), "a stranger who was counted is there");
    complain_of_strangers(most->first);
    strangers_.erase(oldest);
    return true;
}

// Reported once, as there may be thousands.
void PeerConnections::complain_of_strangers(const std::string& source) {
    if (!std::exchange(told_of_strangers_, true)) {
        complaints_.push_back("ended connections of strangers, from " + source +
                              " among others (they did not prove that they belong to the job)");
    }
}

void PeerConnections::run_once() {
    std::array<epoll_event, 64> events;
    int got = 0;
    do {
        bool somebody_comes = false;
        got = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
        for (int i = 0; i < got; ++i) {
            const epoll_event& event = events.at(static_cast<std::size_t>(i));
            if (auto* const link = static_cast<PeerLink*>(event.data.ptr)) {
                link->note_event((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
            } else {
                somebody_comes = true;
            }
        }
        // All events were handled, so none refers to a link that accept_all() may delete.
        if (somebody_comes) {
            accept_all();
        }
    } while (got == static_cast<int>(events.size()));
    poll_strangers();
    const std::int64_t now = clock_.now_ns();
    const bool hastens = later_since_ns_ && now - *later_since_ns_ >= later_ns;
    if (hastens) {
        later_since_ns_.reset();
    }
    const bool beats = now - said_alive_ns_ >= heartbeat_ns;
    for (tokens::Node node = 0; node < peers_.size(); ++node) {
        Peer& peer = peers_[node];
        if (peer.link) {
            if (beats) {  // dropped by a link that has ended
                peer.link->send(tokens::TokenMessage{});
            }
            if (hastens) {
                peer.link->hasten();
            }
            poll_peer(peer, node);
        }
    }
    said_alive_ns_ = beats ? now : said_alive_ns_;
}

void PeerConnections::poll_strangers() {
    const std::int64_t now = clock_.now_ns();
    for (auto& [link, whence, since_ns] : strangers_) {
        link->run_once();
        const PeerLink::State state = link->state();
        if (state == PeerLink::State::established) {
            adopt(std::move(link));
            continue;
        }
        const bool is_ours = !whence.address.empty();
        if (state == PeerLink::State::greeting) {
            if (!is_ours && now - since_ns > proof_ns) {
                complain_of_strangers(whence.source);
                link.reset();
            }
            continue;
        }
        if (is_ours) {
            fail_to_reach(*link, whence, now);
        } else if (state == PeerLink::State::refused) {
            complaints_.push_back("sent another daemon away (" + link->why() + ")");
        }
        link.reset();
    }
    std::erase_if(strangers_, [](const Stranger& one) { return one.link == nullptr; });
}

// A link to a daemon with a lower number ended before that daemon had proved who it is. A daemon to
// which many connect at once may have taken this one for a stranger and closed the connection: it
// is tried again for some time. Then the host's next address is tried, if it has one.
void PeerConnections::fail_to_reach(const PeerLink& link, const Whence& whence, std::int64_t now) {
    const bool hung_up = link.state() == PeerLink::State::ended && link.error() != ECONNREFUSED;
    if (hung_up && now < hung_up_since_ns_.value_or(now) + hung_up_ns) {
        hung_up_since_ns_ = hung_up_since_ns_.value_or(now);
        again_.push_back({whence.address, whence.passed_over, now + again_ns});
    } else if (whence.has_next) {
        again_.push_back({whence.address, whence.passed_over + 1, now});
    } else {
        unmet_ = whence.address + ": " + link.why();
    }
}

// Makes an authenticated link that of its node.
void PeerConnections::adopt(std::unique_ptr<PeerLink> link) {
    expects(link->state() == PeerLink::State::established, "it has proved to be one of the job");
    const tokens::Node node = link->other();
    expects(node < peers_.size() && node != seat_.self, "a link leads to another daemon");
    Peer& peer = peers_[node];
    if (peer.link) {
        complaints_.push_back("sent another daemon away (one with its number is there already)");
        return;
    }
    peer.link = std::move(link);
    peer.heard_ns = clock_.now_ns();
}

// A kernel ends a connection when its process has ended, and resets it if something was not read.
// It also resets one that it gave up itself, after minutes in which nothing came through: then the
// daemon may be alive.
bool PeerConnections::proves_end(const PeerLink& link, std::int64_t unheard_ns) {
    return link.state() == PeerLink::State::ended && (link.error() == 0 || unheard_ns <= silent_ns);
}

void PeerConnections::poll_peer(Peer& peer, tokens::Node node) {
    expects(peer.link != nullptr, "a peer that is looked at has been met");
    peer.link->run_once();
    while (auto word = peer.link->next()) {
        peer.heard_ns = clock_.now_ns();
        take(node, std::move(*word));
    }
    const PeerLink::State state = peer.link->state();
    if (state == PeerLink::State::refused && !peer.held) {
        peer.link->hang_up();
    }
    const bool over = state == PeerLink::State::ended || state == PeerLink::State::refused;
    if (over && !peer.told_gone) {
        peer.told_gone = true;
        peer.proved_gone = proves_end(*peer.link, clock_.now_ns() - peer.heard_ns);
        gone_.push_back(node);
        if (state == PeerLink::State::refused) {
            complaints_.push_back("a daemon of the job talks nonsense (" + peer.link->why() + ")");
        }
    }
}

void PeerConnections::take(tokens::Node from, protocol::PeerWord word) {
    if (auto* const wanted = std::get_if<protocol::PeerReadRequest>(&word)) {
        requests_.push_back({from, *wanted});
    } else if (auto* const part = std::get_if<protocol::PeerReadPart>(&word)) {
        passed_.push_back({from, std::move(*part)});
    } else if (take_handover(from, word)) {
        return;
    } else if (const auto& message = std::get<tokens::TokenMessage>(word);
               message.kind != tokens::TokenMessage::Kind::alive) {
        if (message.kind == tokens::TokenMessage::Kind::grant) {
            asked_ns_.reset();
        }
        messages_.push_back({from, message});
    }
}

void PeerConnections::flush() {
    const std::int64_t until = clock_.now_ns() + heartbeat_ns;
    const auto waiting = [&] {
        return std::ranges::any_of(peers_, [](const Peer& one) {
            return one.link && one.link->state() == PeerLink::State::established &&
                   one.link->blocked();
        });
    };
    for (Peer& peer : peers_) {
        if (peer.link) {
            peer.link->hasten();
        }
    }
    run_once();
    while (waiting() && clock_.now_ns() < until) {
        pollfd news{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
        constexpr int tick_ms = 10;
        ::poll(&news, 1, tick_ms);
        run_once();
    }
}

// Null: the node is gone.
PeerLink* PeerConnections::link_to(tokens::Node node) {
    expects(node < peers_.size(), "a message goes to a daemon of the job");
    Peer& peer = peers_[node];
    const bool there = peer.link && peer.link->state() == PeerLink::State::established;
    return there ? peer.link.get() : nullptr;
}

void PeerConnections::send_at_once(tokens::Node to, const protocol::PeerWord& word) {
    if (PeerLink* const link = link_to(to)) {
        link->send(word);
        link->run_once();
    }
}

// `forgotten` is not urgent, as nobody waits for it: it goes with the next message to that daemon.
void PeerConnections::send(tokens::Node to, const tokens::TokenMessage& message) {
    if (message.kind == tokens::TokenMessage::Kind::ask) {
        asked_ns_ = clock_.now_ns();
    }
    if (message.kind != tokens::TokenMessage::Kind::forgotten) {
        send_at_once(to, message);
    } else if (PeerLink* const link = link_to(to)) {
        link->send(message, PeerLink::Haste::none);
        link->run_once();  // sends them when there are many
        later_since_ns_ = later_since_ns_.value_or(clock_.now_ns());
    }
}

void PeerConnections::ask(tokens::Node of, const protocol::PeerReadRequest& wanted) {
    send_at_once(of, wanted);
}

void PeerConnections::refuse(tokens::Node to, std::uint64_t number) {
    send_at_once(to, protocol::PeerReadPart{.number = number, .refused = true});
}

void PeerConnections::pass(tokens::Node to, std::uint64_t number, std::vector<std::byte> bytes) {
    expects(bytes.size() <= pool::block_bytes, "no more than a block is passed on at a time");
    if (PeerLink* const link = link_to(to)) {
        link->pass(number, std::move(bytes));
        link->run_once();
    }
}

bool PeerConnections::takes_more(tokens::Node node) {
    const PeerLink* const link = link_to(node);
    return link == nullptr || link->bytes_to_pass() < passing_max;
}

std::vector<PeerTransport::Request> PeerConnections::requests() {
    return std::exchange(requests_, {});
}

std::vector<PeerTransport::ReceivedPart> PeerConnections::passed() {
    return std::exchange(passed_, {});
}

std::vector<PeerTransport::PeerMessage> PeerConnections::arrived() {
    return std::exchange(messages_, {});
}

std::vector<tokens::Node> PeerConnections::gone() { return std::exchange(gone_, {}); }

bool PeerConnections::answer_may_be_near() const {
    return asked_ns_ && clock_.now_ns() - *asked_ns_ < near_ns;
}

bool PeerConnections::anybody_silent() {
    const std::int64_t now = clock_.now_ns();
    return std::ranges::any_of(peers_, [&](const Peer& one) { return silent(one, now); });
}

bool PeerConnections::silent(const Peer& peer, std::int64_t now_ns) const {
    return peer.link && !peer.told_gone &&
           (peer.link->state() == PeerLink::State::cut || now_ns - peer.heard_ns > silent_ns);
}

bool PeerConnections::reachable(tokens::Node node) {
    return node < peers_.size() && link_to(node) != nullptr &&
           !silent(peers_[node], clock_.now_ns());
}

std::vector<std::string> PeerConnections::complaints() { return std::exchange(complaints_, {}); }

}  // namespace forebay::cluster
