// How a daemon reaches the others of its job.
#pragma once

#include "pool/cluster/tokens/token.hpp"
#include "pool/cluster/transport/peer_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::server {

class Post {
public:
    struct Letter {
        registry::Node from = 0;
        registry::Message message;
    };

    virtual ~Post() = default;
    // In order to each; what is for one that has gone is dropped.
    virtual void send(registry::Node to, const registry::Message& message) = 0;
    [[nodiscard]] virtual std::vector<Letter> arrived() = 0;
    // Daemons that have ended since the last call; what they had said before has arrived.
    [[nodiscard]] virtual std::vector<registry::Node> gone() = 0;
    // One of the others has said nothing for so long that nobody knows whether it lives.
    [[nodiscard]] virtual bool anybody_silent() = 0;

    // What few nodes read for all. Messages may overtake it.
    struct Request {
        registry::Node from = 0;
        wire::Wanted wanted;
    };
    virtual void ask(registry::Node of, const wire::Wanted& wanted) = 0;
    [[nodiscard]] virtual std::vector<Request> requests() = 0;
    virtual void pass(registry::Node to, std::uint64_t number, std::vector<std::byte> bytes) = 0;
    // False: so much is on its way that more would only take memory.
    [[nodiscard]] virtual bool takes_more(registry::Node node) = 0;
    virtual void refuse(registry::Node to, std::uint64_t number) = 0;
    // Parts of what was asked for. What has come is complete when who passed it on is gone.
    struct Passed {
        registry::Node from = 0;
        wire::Part part;
    };
    [[nodiscard]] virtual std::vector<Passed> passed() = 0;
    // False: it has gone, or nobody knows whether it lives.
    [[nodiscard]] virtual bool reachable(registry::Node node) = 0;
};

}  // namespace forebay::server
