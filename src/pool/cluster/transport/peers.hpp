// The daemons of a job, each connected to each other one by TCP. The launcher that started them
// tells them of each other.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/clock.hpp"
#include "pool/cluster/transport/peer_link.hpp"
#include "pool/cluster/transport/peer_transport.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace forebay::cluster {

struct PeerList {
    std::vector<std::string> addresses;  // "host:port" of each daemon, by its number
    Secret secret{};
};
// {"schema": "forebay.pool.peers/1", "secret": 64 hexadecimal digits, "addresses": […]}
[[nodiscard]] Result<PeerList> peer_list_of(const std::string& line, std::uint32_t nodes);

class PeerConnections final : public PeerTransport {
public:
    static constexpr std::int64_t heartbeat_ns = 2'000'000'000;
    static constexpr std::int64_t later_ns = 1'000'000;
    static constexpr std::int64_t near_ns = 100'000;
    static constexpr std::int64_t silent_ns = 10'000'000'000;
    static constexpr std::int64_t join_ns = 60'000'000'000;
    // Within which somebody who connects proves that he belongs to the job, and how many may be
    // about to: those who have proved it do not count, nor those that this daemon connects to.
    static constexpr std::int64_t proof_ns = 5'000'000'000;
    static constexpr std::size_t strangers_max = 256;
    // How long a daemon that hangs up before it has proved anything is tried again, and how often.
    static constexpr std::int64_t hung_up_ns = 10'000'000'000;
    static constexpr std::int64_t again_ns = 100'000'000;
    static constexpr std::size_t passing_max = std::size_t{4} << 20;  // bytes on their way to one

    // Listens at a port that the kernel chooses (listen_for_peers), until all have met. `host`:
    // this node's name or address, as the others know it. The clock outlives it.
    [[nodiscard]] static Result<std::unique_ptr<PeerConnections>> listen(
        const std::string& host, const ClusterPlace& seat, const ports::TimeSource& clock);
    ~PeerConnections() override;
    PeerConnections(const PeerConnections&) = delete;
    PeerConnections& operator=(const PeerConnections&) = delete;

    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    // Connects to those with lower numbers, and waits until all are there.
    [[nodiscard]] Result<void> join(const PeerList& list);

    // To be waited for; then run_once().
    [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
    void run_once();
    // There are messages that nobody waits for: the first run_once() that comes `later_ns` after
    // them, or later, sends them.
    [[nodiscard]] bool has_something_for_later() const noexcept {
        return later_since_ns_.has_value();
    }
    // A home was asked so short a time ago that its answer may come before this thread would wake.
    [[nodiscard]] bool answer_may_be_near() const;
    // Waits, for a moment at most, until all messages have been sent.
    void flush();
    // Why connections were refused since the last call.
    [[nodiscard]] std::vector<std::string> complaints();

    void send(tokens::Node to, const tokens::TokenMessage& message) override;
    [[nodiscard]] std::vector<PeerMessage> arrived() override;
    [[nodiscard]] std::vector<tokens::Node> gone() override;
    [[nodiscard]] bool anybody_silent() override;
    void ask(tokens::Node of, const protocol::PeerReadRequest& wanted) override;
    [[nodiscard]] std::vector<Request> requests() override;
    void pass(tokens::Node to, std::uint64_t number, std::vector<std::byte> bytes) override;
    [[nodiscard]] bool takes_more(tokens::Node node) override;
    void refuse(tokens::Node to, std::uint64_t number) override;
    [[nodiscard]] std::vector<PeerReadClient> passed() override;
    [[nodiscard]] bool reachable(tokens::Node node) override;

private:
    struct Peer {
        std::unique_ptr<PeerLink> link;
        std::int64_t heard_ns = 0;
        bool told_gone = false;
    };

    PeerConnections(OwnFd listener, OwnFd epoll, std::string address, const ClusterPlace& seat,
                    const ports::TimeSource& clock);
    // The `address` that this daemon connects to, or the `source` of a peer that came by itself.
    struct Whence {
        std::string address = {};
        std::string source = {};
    };
    // One that is connected to anew.
    struct Again {
        std::string address;
        std::int64_t at_ns = 0;
    };
    [[nodiscard]] Result<void> reach(const std::string& address);
    [[nodiscard]] Result<void> reach_again();
    void accept_all();
    [[nodiscard]] bool reject_stranger();
    void complain_of_strangers(const std::string& source);
    void meet(OwnFd socket, Whence whence);
    void adopt(std::unique_ptr<PeerLink> link);
    void poll_strangers();
    void fail_to_reach(const PeerLink& link, const std::string& address, std::int64_t now);
    void poll_peer(Peer& peer, tokens::Node node);
    void take(tokens::Node from, protocol::PeerWord word);
    void send_at_once(tokens::Node to, const protocol::PeerWord& word);
    [[nodiscard]] PeerLink* link_to(tokens::Node node);
    [[nodiscard]] bool silent(const Peer& peer, std::int64_t now_ns) const;
    [[nodiscard]] bool complete() const;

    OwnFd listener_;
    OwnFd epoll_;
    std::string address_;
    ClusterPlace seat_;
    const ports::TimeSource& clock_;
    Secret secret_{};
    std::vector<Peer> peers_;  // by number; the own one is empty
    // A peer that has not proved yet who it is.
    struct Stranger {
        std::unique_ptr<PeerLink> link;
        Whence whence;
        std::int64_t since_ns = 0;
    };
    std::vector<Stranger> strangers_;  // the oldest first
    bool told_of_strangers_ = false;
    std::vector<Again> again_;
    std::optional<std::int64_t> hung_up_since_ns_;
    std::string unmet_;  // why one that this daemon connected to is not met
    std::vector<PeerMessage> messages_;
    std::vector<Request> requests_;
    std::vector<PeerReadClient> passed_;
    std::vector<tokens::Node> gone_;
    std::vector<std::string> complaints_;
    std::int64_t said_alive_ns_ = 0;
    std::optional<std::int64_t> later_since_ns_;
    std::optional<std::int64_t> asked_ns_;  // a home, and no grant of any has come since
};

}  // namespace forebay::cluster
