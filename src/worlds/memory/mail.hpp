// Messages between the nodes of a cluster in memory, matched as in MPI: by sender and tag, in
// order. Short messages are buffered (eager); long ones wait for their receive (rendezvous).
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
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
    std::optional<std::size_t> done(Ticket ticket);

private:
    struct Message {
        Route route;
        Ticket ticket = 0;
        std::span<const std::byte> bytes;
        std::vector<std::byte> copy;  // of an eager message
        bool eager = false;
    };
    struct PostedReceive {
        Route route;
        Ticket ticket = 0;
        std::span<std::byte> bytes;
    };

    Ticket new_ticket();

    std::size_t eager_bytes_;
    std::mutex mutex_;
    Ticket last_ = 0;
    // Every valid ticket and, once it has ended, the length of its message.
    std::unordered_map<Ticket, std::optional<std::size_t>> ended_;
    std::deque<Message> messages_;        // without a matching receive yet
    std::deque<PostedReceive> receives_;  // receives without a matching message yet
};

}  // namespace forebay::adapters
