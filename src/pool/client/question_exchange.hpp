// One question to the daemon of the node, and its reply. Safe in signal handlers.
#pragma once

#include "foundation/base/yielding.hpp"
#include "pool/protocol/messages.hpp"

#include <array>
#include <cstddef>

namespace forebay::pool {

// A reply and the descriptors that came with it (-1: none); the caller closes those that it does
// not keep, also where no reply came.
struct ReceivedReply {
    static constexpr std::size_t descriptors_max = 4;
    protocol::DaemonReply reply;
    std::array<int, descriptors_max> descriptors{-1, -1, -1, -1};
    bool came = false;
};

// Sends the question over a connected socket, with `descriptor` unless it is -1, and receives the
// reply. With `yielding` it polls for a short time before it sleeps, where that pays; null: it
// sleeps at once. If no reply came, errno says why: ECONNRESET at the end of the connection, EPROTO
// if it is the reply to another question. Precondition: no other thread is in it with this socket.
[[nodiscard]] ReceivedReply exchange(int socket, const protocol::ClientQuestion& question,
                                     int descriptor, CoreYielding* yielding) noexcept;

}  // namespace forebay::pool
