// Has the home of the file order all nodes to drain it; on a single node, only drains it.
#include "pool/daemon/requests/settle.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/daemon/requests/request_context.hpp"

#include <cerrno>

namespace forebay::daemon {

NextStep SettleRequest::begin(const protocol::ClientQuestion& question,
                              std::vector<OwnFd> /*descriptors*/) {
    DaemonContext& daemon = context().daemon;
    const pool::FileSlot& file = daemon.directory.files[question.slot];
    if (!session().client || file.generation.load(relaxed) != question.generation) {
        return refuse(session().client ? ENOENT : ENOTCONN);
    }
    if (!daemon.coherence) {
        return daemon.tickets.ask(question.slot, question.generation, pool::FileTask{});
    }
    key_ = tokens::FileKey{file.inode.load(relaxed)};
    ticket_ = daemon.tickets.new_token_ticket();
    return ask_home();
}

NextStep SettleRequest::ask_home() {
    expects(ticket_.has_value(), "a home is asked where there are other daemons");
    const auto settled = context().daemon.tickets.settle(key_, *ticket_);
    if (!settled) {
        return *ticket_;
    }
    return settled == tokens::FileAdmission::refused ? refuse(EREMOTEIO) : ReplyIsDue{};
}

NextStep SettleRequest::go_on() {
    if (ticket_) {
        NextStep next = ask_home();
        if (!std::holds_alternative<ReplyIsDue>(next) || reply().error != 0) {
            return next;
        }
    }
    reply_about_file(WaitKind::drain);
    return ReplyIsDue{};
}

void SettleRequest::abandon() {
    if (ticket_) {
        context().daemon.tickets.abandon(key_, *ticket_);
    }
}

}  // namespace forebay::daemon
