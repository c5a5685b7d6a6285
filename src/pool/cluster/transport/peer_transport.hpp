// How a daemon reaches the others of its job.
#pragma once

#include "pool/cluster/tokens/token.hpp"
#include "pool/cluster/transport/peer_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::cluster {

class PeerTransport {
public:
    struct PeerMessage {
        tokens::Node from = 0;
        tokens::TokenMessage message;
    };

    virtual ~PeerTransport() = default;
    // In order to each; what is for one that has gone is dropped.
    virtual void send(tokens::Node to, const tokens::TokenMessage& message) = 0;
    [[nodiscard]] virtual std::vector<PeerMessage> arrived() = 0;
    // Daemons that have ended since the last call; what they had said before has arrived.
    [[nodiscard]] virtual std::vector<tokens::Node> gone() = 0;
    // One of the others has said nothing for so long that nobody knows whether it lives.
    [[nodiscard]] virtual bool anybody_silent() = 0;

    // A request for bytes, where few nodes read for all. Messages may overtake it.
    struct Request {
        tokens::Node from = 0;
        protocol::PeerReadRequest wanted;
    };
    virtual void ask(tokens::Node of, const protocol::PeerReadRequest& wanted) = 0;
    [[nodiscard]] virtual std::vector<Request> requests() = 0;
    virtual void pass(tokens::Node to, std::uint64_t number, std::vector<std::byte> bytes) = 0;
    // False: so much is on its way that more would only take memory.
    [[nodiscard]] virtual bool takes_more(tokens::Node node) = 0;
    virtual void refuse(tokens::Node to, std::uint64_t number) = 0;
    // Parts of the bytes asked for. Once the node that passes them on is gone, no more of its parts
    // come.
    struct PeerReadClient {
        tokens::Node from = 0;
        protocol::PeerReadPart part;
    };
    [[nodiscard]] virtual std::vector<PeerReadClient> passed() = 0;
    // False: it has gone, or nobody knows whether it lives.
    [[nodiscard]] virtual bool reachable(tokens::Node node) = 0;
};

}  // namespace forebay::cluster
