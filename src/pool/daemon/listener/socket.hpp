// Messages with descriptors (SCM_RIGHTS) over a socket that keeps message boundaries
// (SOCK_SEQPACKET). Nothing here waits.
#pragma once

#include "foundation/base/own_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::daemon {

enum class ReceiveResult {
    message,
    nothing,  // no message is there now
    end,      // the other side has closed the socket, or sent an empty message
};

struct ReceivedMessage {
    ReceiveResult arrival = ReceiveResult::nothing;
    // bytes_max + 1 of them if the message was longer than `bytes_max`
    std::vector<std::byte> bytes;
    // All that came; a caller that does not want them lets them be closed.
    std::vector<OwnFd> descriptors;
    // Descriptors were dropped, because this process has no more or more came than expected.
    bool lost_descriptors = false;
};
[[nodiscard]] ReceivedMessage receive(int socket, std::size_t bytes_max);

enum class SendResult {
    done,
    later,  // the other side's queue is full; to be tried again
    gone,
};
// The number of descriptors that a message may carry.
inline constexpr std::size_t descriptors_max = 4;
[[nodiscard]] SendResult deliver(int socket, std::span<const std::byte> bytes,
                                 std::span<const OwnFd> descriptors);

}  // namespace forebay::daemon
