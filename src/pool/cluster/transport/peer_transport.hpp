// The port by which a daemon exchanges messages with the other daemons of its job.
#pragma once

#include "pool/cluster/tokens/token.hpp"
#include "pool/cluster/transport/peer_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::cluster {

class HandoverTransport;

class PeerTransport {
public:
    struct PeerMessage {
        tokens::Node from = 0;
        tokens::TokenMessage message;
    };

    virtual ~PeerTransport() = default;
    // Messages to one daemon arrive in order. A message to one that is gone is dropped.
    virtual void send(tokens::Node to, const tokens::TokenMessage& message) = 0;
    [[nodiscard]] virtual std::vector<PeerMessage> arrived() = 0;
    // Daemons that have ended since the last call; everything that they had sent has arrived
    // before.
    [[nodiscard]] virtual std::vector<tokens::Node> gone() = 0;
    // True when another daemon has been silent for so long that it may be dead.
    [[nodiscard]] virtual bool anybody_silent() = 0;

    // A request for bytes, where few nodes read for all. It is not ordered with messages: these may
    // overtake it.
    struct Request {
        tokens::Node from = 0;
        protocol::PeerReadRequest wanted;
    };
    virtual void ask(tokens::Node of, const protocol::PeerReadRequest& wanted) = 0;
    [[nodiscard]] virtual std::vector<Request> requests() = 0;
    virtual void pass(tokens::Node to, std::uint64_t number, std::vector<std::byte> bytes) = 0;
    // False: so many bytes are waiting to be sent to this node that more would only take memory.
    [[nodiscard]] virtual bool takes_more(tokens::Node node) = 0;
    virtual void refuse(tokens::Node to, std::uint64_t number) = 0;
    // A part of the bytes that were requested. None comes any more once the sending node is gone.
    struct ReceivedPart {
        tokens::Node from = 0;
        protocol::PeerReadPart part;
    };
    [[nodiscard]] virtual std::vector<ReceivedPart> passed() = 0;
    // False: the node is gone, or has been silent for too long.
    [[nodiscard]] virtual bool reachable(tokens::Node node) = 0;
    // The same connections, for handing over what other nodes write; null: not by this transport.
    [[nodiscard]] virtual HandoverTransport* handover() noexcept { return nullptr; }
};

}  // namespace forebay::cluster
