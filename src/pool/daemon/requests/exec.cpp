// Drains a program's file and waits until the daemon has closed it, so that execve() does not fail
// with ETXTBSY.
#include "pool/daemon/requests/exec.hpp"

#include "pool/daemon/requests/request_context.hpp"

#include <cerrno>

namespace forebay::daemon {

NextStep ExecRequest::begin(const protocol::ClientQuestion& question,
                            std::vector<OwnFd> /*descriptors*/) {
    if (!session().client) {
        return refuse(ENOTCONN);
    }
    program_ = {.device = static_cast<std::uint64_t>(question.number), .inode = question.inode};
    DaemonContext& daemon = context().daemon;
    if (const auto file = daemon.pool.known(program_)) {
        return daemon.tickets.ask(file->slot, file->generation, pool::FileTask{});
    }
    return await_closing();
}

NextStep ExecRequest::await_closing() const {
    if (context().daemon.pool.lets_go(program_)) {
        return UntilFileClosed{program_};
    }
    return ReplyIsDue{};
}

}  // namespace forebay::daemon
