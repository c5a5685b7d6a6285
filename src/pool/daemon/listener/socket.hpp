// Messages and the descriptors that travel with them, over a socket that keeps messages apart.
#pragma once

#include "foundation/base/own_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::daemon {

enum class ReceiveResult {
    message,
    nothing,  // now
    end,      // the other side is gone, or said something without bytes
};

struct ReceivedMessage {
    ReceiveResult arrival = ReceiveResult::nothing;
    std::vector<std::byte> bytes;    // one more than `bytes_max` where it was longer
    std::vector<OwnFd> descriptors;  // all that came; a caller that does not want them drops them
    bool lost_descriptors = false;   // there was no room for one more: in this process, or here
};
[[nodiscard]] ReceivedMessage receive(int socket, std::size_t bytes_max);

enum class SendResult {
    done,
    later,  // the other side does not take it now
    gone,
};
// At most descriptors_max of them.
inline constexpr std::size_t descriptors_max = 4;
[[nodiscard]] SendResult deliver(int socket, std::span<const std::byte> bytes,
                                 std::span<const OwnFd> descriptors);

}  // namespace forebay::daemon
