// Answers the questions for shared memory. Each reply carries a descriptor (SCM_RIGHTS) that the
// client maps. All are answered at once.
#pragma once

#include "pool/daemon/daemon_context.hpp"
#include "pool/daemon/session.hpp"
#include "pool/protocol/messages.hpp"

namespace forebay::daemon {

// Passes pool::Directory, the daemon's table of files, extents and clients in shared memory, which
// clients map read-only. The reply's `number` is its size in bytes.
void pass_directory(const DaemonContext& daemon, QueuedReply& reply);
// Passes the log of the client whose number the question has, read-only. ENOENT: it has none.
void pass_log(const DaemonContext& daemon, const protocol::ClientQuestion& question,
              QueuedReply& reply);
// Passes, for writing, the log that a client has lent under the name in the question's `group`.
// ENOENT: no log is lent under this name.
void pass_lent_log(const DaemonContext& daemon, const protocol::ClientQuestion& question,
                   QueuedReply& reply);
// Lends the session's log under the name in the question's `group`: from now on, any process that
// knows this name may map the log for writing. EEXIST: the log is lent under another name, or the
// name is another client's.
void lend_log(DaemonContext& daemon, const Session& session,
              const protocol::ClientQuestion& question, QueuedReply& reply);

}  // namespace forebay::daemon
