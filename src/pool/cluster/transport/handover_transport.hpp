// The port by which a daemon hands bytes over to the daemon that writes for it.
#pragma once

#include "pool/cluster/tokens/token.hpp"
#include "pool/cluster/transport/peer_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace forebay::cluster {

class HandoverTransport {
public:
    HandoverTransport() = default;
    HandoverTransport(const HandoverTransport&) = delete;
    HandoverTransport& operator=(const HandoverTransport&) = delete;
    virtual ~HandoverTransport() = default;

    template <class Word>
    struct From {
        tokens::Node node = 0;
        Word word;
    };

    // Messages to one daemon arrive in order. One to a daemon that is gone is dropped.
    virtual void offer(tokens::Node to, const protocol::HandoverOffer& offer) = 0;
    virtual void reply(tokens::Node to, const protocol::HandoverReply& reply) = 0;
    // The bytes of an offer. Messages may overtake them.
    virtual void hand_over(tokens::Node to, std::uint64_t number, std::vector<std::byte> bytes) = 0;
    // The messages that have arrived since the last call. Replies are to offers of this node.
    [[nodiscard]] virtual std::vector<From<protocol::HandoverOffer>> offers() = 0;
    [[nodiscard]] virtual std::vector<From<protocol::HandoverReply>> replies() = 0;
    [[nodiscard]] virtual std::vector<From<protocol::HandoverPart>> handed_over() = 0;
    // The numbers of offers that were withdrawn.
    [[nodiscard]] virtual std::vector<From<std::uint64_t>> withdrawals() = 0;

    // False: the node is gone, or has been silent for too long.
    [[nodiscard]] virtual bool reachable(tokens::Node node) = 0;
    // The node's kernel has ended the connection: no thread of that daemon is there any more, so
    // nothing is written any more that was handed over to it. False where nobody knows.
    [[nodiscard]] virtual bool has_ended(tokens::Node node) = 0;
    // While `holds`, this daemon does not end its connection to the node: it writes what the node
    // has handed over.
    virtual void hold(tokens::Node node, bool holds) = 0;
    // Where the node's daemon is, for messages to users.
    [[nodiscard]] virtual std::string name_of(tokens::Node node) = 0;
};

}  // namespace forebay::cluster
