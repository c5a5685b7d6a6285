// The connections to other daemons, as the port by which bytes are handed over.
#include "foundation/base/contracts.hpp"
#include "pool/cluster/transport/peers.hpp"

#include <utility>

namespace forebay::cluster {

bool PeerConnections::take_handover(tokens::Node from, protocol::PeerWord& word) {
    if (auto* const offered = std::get_if<protocol::HandoverOffer>(&word)) {
        offers_.push_back({from, std::move(*offered)});
    } else if (const auto* const said = std::get_if<protocol::HandoverReply>(&word)) {
        if (said->kind == protocol::HandoverReply::Kind::withdrawn) {
            withdrawals_.push_back({from, said->number});
        } else {
            replies_.push_back({from, *said});
        }
    } else if (auto* const part = std::get_if<protocol::HandoverPart>(&word)) {
        handed_over_.push_back({from, std::move(*part)});
    } else {
        return false;
    }
    return true;
}

void PeerConnections::offer(tokens::Node to, const protocol::HandoverOffer& offer) {
    send_at_once(to, offer);
}

void PeerConnections::reply(tokens::Node to, const protocol::HandoverReply& reply) {
    send_at_once(to, reply);
}

void PeerConnections::hand_over(tokens::Node to, std::uint64_t number,
                                std::vector<std::byte> bytes) {
    expects(bytes.size() <= protocol::offer_bytes_max, "no more is handed over than was offered");
    if (PeerLink* const link = link_to(to)) {
        link->pass(number, std::move(bytes), PeerLink::Purpose::writing);
        link->run_once();
    }
}

std::vector<HandoverTransport::From<protocol::HandoverOffer>> PeerConnections::offers() {
    return std::exchange(offers_, {});
}

std::vector<HandoverTransport::From<protocol::HandoverReply>> PeerConnections::replies() {
    return std::exchange(replies_, {});
}

std::vector<HandoverTransport::From<protocol::HandoverPart>> PeerConnections::handed_over() {
    return std::exchange(handed_over_, {});
}

std::vector<HandoverTransport::From<std::uint64_t>> PeerConnections::withdrawals() {
    return std::exchange(withdrawals_, {});
}

bool PeerConnections::has_ended(tokens::Node node) {
    return node < peers_.size() && peers_[node].proved_gone;
}

void PeerConnections::hold(tokens::Node node, bool holds) {
    expects(node < peers_.size(), "a daemon of the job is held");
    peers_[node].held = holds;
}

std::string PeerConnections::name_of(tokens::Node node) {
    expects(node < peers_.size(), "a daemon of the job has a name");
    return peers_[node].name;
}

}  // namespace forebay::cluster
