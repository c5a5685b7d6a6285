// Sends a question to the daemon of the node. Safe in signal handlers.
#pragma once

#include "pool/protocol/messages.hpp"

namespace forebay::pool {

// Sends the question over a connected socket; `descriptor`, unless it is -1, travels along
// (SCM_RIGHTS). False: it was not sent, and errno says why.
[[nodiscard]] bool send_question(int socket, const protocol::ClientQuestion& question,
                                 int descriptor) noexcept;

}  // namespace forebay::pool
