// The TCP connections of a daemon to all other daemons of its job. The launcher that started the
// daemons tells each of them the addresses of all.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/clock.hpp"
#include "pool/cluster/transport/handover_transport.hpp"
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
// Parses {"schema": "forebay.pool.peers/1", "secret": 64 hexadecimal digits, "addresses": […]}.
[[nodiscard]] Result<PeerList> peer_list_of(const std::string& line, std::uint32_t nodes);

class PeerConnections final : public PeerTransport, public HandoverTransport {
public:
    // How often `alive` is sent: several times within silent_ns.
    static constexpr std::int64_t heartbeat_ns = 2'000'000'000;
    // How long messages that are not urgent are held back, so that several go together.
    static constexpr std::int64_t later_ns = 1'000'000;
    // How long after a question to a home the loop yields for the answer, instead of sleeping.
    static constexpr std::int64_t near_ns = 100'000;
    // A daemon that has sent nothing for this long counts as not reachable: opens that wait for it
    // fail with EREMOTEIO.
    static constexpr std::int64_t silent_ns = 10'000'000'000;
    // How long join() waits for all daemons of the job.
    static constexpr std::int64_t join_ns = 60'000'000'000;
    // How soon the other side of an accepted connection must prove that it belongs to the job, and
    // how many such connections there may be at a time.
    static constexpr std::int64_t proof_ns = 5'000'000'000;
    static constexpr std::size_t strangers_max = 256;
    // For how long, and how often, a connection is tried again that the other side has closed
    // before it proved who it is.
    static constexpr std::int64_t hung_up_ns = 10'000'000'000;
    static constexpr std::int64_t again_ns = 100'000'000;
    // Bytes waiting to be sent to one node.
    static constexpr std::size_t passing_max = std::size_t{4} << 20;

    // Listens at a port that the kernel chooses (listen_for_peers) until all daemons are connected.
    // `host` is this node's name or address, as the other nodes know it. The clock outlives the
    // result.
    [[nodiscard]] static Result<std::unique_ptr<PeerConnections>> listen(
        const std::string& host, const ClusterPlace& seat, const ports::TimeSource& clock);
    ~PeerConnections() override;
    PeerConnections(const PeerConnections&) = delete;
    PeerConnections& operator=(const PeerConnections&) = delete;

    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    // Connects to the daemons with lower numbers, and waits until all are connected. Blocks the
    // calling thread for a minute at most.
    [[nodiscard]] Result<void> join(const PeerList& list);

    // An epoll descriptor: when it is readable, run_once() is to be called.
    [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
    void run_once();
    // True when messages are held back that are not urgent. A run_once() at least `later_ns` after
    // the first of them sends them.
    [[nodiscard]] bool has_something_for_later() const noexcept {
        return later_since_ns_.has_value();
    }
    // True when a home was asked so recently (`near_ns`) that its answer may come before this
    // thread could be woken.
    [[nodiscard]] bool answer_may_be_near() const;
    // Sends all messages; waits at most `heartbeat_ns` for that.
    void flush();
    // For the user: why connections were refused since the last call.
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
    [[nodiscard]] std::vector<ReceivedPart> passed() override;
    [[nodiscard]] bool reachable(tokens::Node node) override;

    [[nodiscard]] HandoverTransport* handover() noexcept override { return this; }
    void offer(tokens::Node to, const protocol::HandoverOffer& offer) override;
    void reply(tokens::Node to, const protocol::HandoverReply& reply) override;
    void hand_over(tokens::Node to, std::uint64_t number, std::vector<std::byte> bytes) override;
    [[nodiscard]] std::vector<From<protocol::HandoverOffer>> offers() override;
    [[nodiscard]] std::vector<From<protocol::HandoverReply>> replies() override;
    [[nodiscard]] std::vector<From<protocol::HandoverPart>> handed_over() override;
    [[nodiscard]] std::vector<From<std::uint64_t>> withdrawals() override;
    [[nodiscard]] bool has_ended(tokens::Node node) override;
    void hold(tokens::Node node, bool holds) override;
    [[nodiscard]] std::string name_of(tokens::Node node) override;

private:
    struct Peer {
        std::unique_ptr<PeerLink> link;
        std::int64_t heard_ns = 0;
        bool told_gone = false;
        // The end of the link proves the end of the daemon; see has_ended().
        bool proved_gone = false;
        bool held = false;   // see hold()
        std::string name{};  // the address by which it was introduced
    };

    PeerConnections(OwnFd listener, OwnFd epoll, std::string address, const ClusterPlace& seat,
                    const ports::TimeSource& clock);
    // `address`: where this daemon has connected to; `source`: from where the other side has
    // connected. A host may have several numeric addresses: `passed_over` is how many of them come
    // before the one of this connection, and `has_next` says whether there is one behind it.
    struct Whence {
        std::string address = {};
        std::string source = {};
        std::size_t passed_over = 0;
        bool has_next = false;
    };
    // An address that is to be connected to again, without the first `passed_over` of its host.
    struct Again {
        std::string address;
        std::size_t passed_over = 0;
        std::int64_t at_ns = 0;
    };
    [[nodiscard]] Result<void> reach(const std::string& address, std::size_t passed_over);
    [[nodiscard]] Result<void> reach_again();
    void accept_all();
    [[nodiscard]] bool reject_stranger();
    void complain_of_strangers(const std::string& source);
    void meet(OwnFd socket, Whence whence);
    void adopt(std::unique_ptr<PeerLink> link);
    void poll_strangers();
    void fail_to_reach(const PeerLink& link, const Whence& whence, std::int64_t now);
    [[nodiscard]] static bool proves_end(const PeerLink& link, std::int64_t unheard_ns);
    void poll_peer(Peer& peer, tokens::Node node);
    void take(tokens::Node from, protocol::PeerWord word);
    // False: the message is of another kind.
    bool take_handover(tokens::Node from, protocol::PeerWord& word);
    void send_at_once(tokens::Node to, const protocol::PeerWord& word);
    [[nodiscard]] PeerLink* link_to(tokens::Node node);
    [[nodiscard]] bool silent(const Peer& peer, std::int64_t now_ns) const;
    [[nodiscard]] bool complete() const;
    // The addresses of the daemons that are not connected yet, with commas between them.
    [[nodiscard]] std::string missing_of(const PeerList& list) const;

    OwnFd listener_;
    OwnFd epoll_;
    std::string address_;
    ClusterPlace seat_;
    const ports::TimeSource& clock_;
    Secret secret_{};
    std::vector<Peer> peers_;  // by number; that of this daemon is unused
    // A connection whose other side has not proved yet who it is.
    struct Stranger {
        std::unique_ptr<PeerLink> link;
        Whence whence;
        std::int64_t since_ns = 0;
    };
    std::vector<Stranger> strangers_;  // in the order in which they came
    bool told_of_strangers_ = false;
    std::vector<Again> again_;
    std::optional<std::int64_t> hung_up_since_ns_;
    std::string unmet_;  // why a daemon with a lower number could not be reached
    std::vector<PeerMessage> messages_;
    std::vector<Request> requests_;
    std::vector<ReceivedPart> passed_;
    std::vector<From<protocol::HandoverOffer>> offers_;
    std::vector<From<protocol::HandoverReply>> replies_;
    std::vector<From<protocol::HandoverPart>> handed_over_;
    std::vector<From<std::uint64_t>> withdrawals_;
    std::vector<tokens::Node> gone_;
    std::vector<std::string> complaints_;
    std::int64_t said_alive_ns_ = 0;
    std::optional<std::int64_t> later_since_ns_;
    std::optional<std::int64_t> asked_ns_;  // when a home was asked, if no grant has come since
};

}  // namespace forebay::cluster
