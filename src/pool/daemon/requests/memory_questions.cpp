// Passes descriptors of shared memory to clients, over their sockets (SCM_RIGHTS).
#include "pool/daemon/requests/memory_questions.hpp"

#include "foundation/base/contracts.hpp"

#include <cerrno>

namespace forebay::daemon {

void pass_directory(const DaemonContext& daemon, QueuedReply& reply) {
    expects(daemon.segment.made(), "the directory is there as long as the daemon");
    if (reply.pass(daemon.segment.for_reading())) {
        reply.reply.number = static_cast<std::int64_t>(sizeof(pool::Directory));
    }
}

void pass_log(const DaemonContext& daemon, const protocol::ClientQuestion& question,
              QueuedReply& reply) {
    const auto client = static_cast<std::uint32_t>(question.number);
    const SharedSegment& segment = daemon.memory.segment(client);
    reply.reply.client = client;
    if (!segment.made()) {
        reply.refuse(ENOENT);
        return;
    }
    reply.pass(segment.for_reading());
}

void pass_lent_log(const DaemonContext& daemon, const protocol::ClientQuestion& question,
                   QueuedReply& reply) {
    const SharedSegment* const segment = daemon.memory.lent(question.group);
    if (segment == nullptr || !segment->made()) {
        reply.refuse(ENOENT);
        return;
    }
    reply.pass(segment->for_writing());
}

void lend_log(DaemonContext& daemon, const Session& session,
              const protocol::ClientQuestion& question, QueuedReply& reply) {
    if (!session.client) {
        reply.refuse(ENOTCONN);
    } else if (!daemon.memory.lend(*session.client, question.group)) {
        reply.refuse(EEXIST);
    }
}

}  // namespace forebay::daemon
