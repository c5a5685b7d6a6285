// Questions for memory to map: the directory, logs, and logs that are lent. They are answered at
// once.
#pragma once

#include "pool/daemon/daemon_context.hpp"
#include "pool/daemon/session.hpp"
#include "pool/protocol/messages.hpp"

namespace forebay::daemon {

void pass_directory(const DaemonContext& daemon, QueuedReply& reply);
void pass_log(const DaemonContext& daemon, const protocol::ClientQuestion& question,
              QueuedReply& reply);
// The log that was lent by the question's name.
void pass_lent_log(const DaemonContext& daemon, const protocol::ClientQuestion& question,
                   QueuedReply& reply);
// Whoever knows the question's name may write to the client's log from now on.
void lend_log(DaemonContext& daemon, const Session& session,
              const protocol::ClientQuestion& question, QueuedReply& reply);

}  // namespace forebay::daemon
