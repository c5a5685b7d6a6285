// How a daemon reaches the others of its job.
#pragma once

#include "registry/token.hpp"

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
};

}  // namespace forebay::server
