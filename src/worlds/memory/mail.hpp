// Messages between the nodes of an imagined cluster, matched as MPI matches them: by sender and
// tag, in order. Short ones are buffered, long ones wait for their receiver.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace forebay::adapters {

class NodeMailbox {
public:
    using Ticket = ports::Communicator::Ticket;
    struct Route {
        NodeId from;
        NodeId to;
        int tag = 0;
        bool operator==(const Route&) const noexcept = default;
    };

    explicit NodeMailbox(std::size_t eager_bytes) noexcept : eager_bytes_{eager_bytes} {}

    Ticket send(const Route& route, std::span<const std::byte> bytes);
    Ticket receive(const Route& route, std::span<std::byte> bytes);
    bool done(Ticket ticket);

private:
    struct Message {
        Route route;
        Ticket ticket = 0;
        std::span<const std::byte> bytes;
        std::vector<std::byte> copy;  // of a short message
        bool eager = false;
    };
    struct TokenWish {
        Route route;
        Ticket ticket = 0;
        std::span<std::byte> bytes;
    };

    Ticket new_ticket();

    std::size_t eager_bytes_;
    std::mutex mutex_;
    Ticket last_ = 0;
    std::unordered_map<Ticket, bool> ended_;  // of every ticket that is not gone
    std::deque<Message> messages_;            // not received yet
    std::deque<TokenWish> wishes_;            // not fulfilled yet
};

}  // namespace forebay::adapters
