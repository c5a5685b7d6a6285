// The part that all kinds of requests have in common.
#include "pool/daemon/requests/request.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/daemon/requests/request_context.hpp"

namespace forebay::daemon {

ClientRequest::ClientRequest(RequestContext& context, Session& session, QueuedReply& reply)
    : context_{context},
      session_{&session},
      queued_{&reply},
      asked_ns_{context.daemon.clocks.steady.now_ns()} {
    expects(!reply.due, "a request has a reply that is not complete");
}

Session& ClientRequest::session() const {
    expects(session_ != nullptr, "a request that nobody wants does not look at its session");
    return *session_;
}

QueuedReply& ClientRequest::queued() const {
    expects(queued_ != nullptr && !queued_->due, "a request fills in a reply that is not sent yet");
    return *queued_;
}

NextStep ClientRequest::resume(int error) {
    expects(is_wanted(), "a request that nobody wants is abandoned, not resumed");
    reply().error = error;
    return go_on();
}

NextStep ClientRequest::go_on() {
    invariant(false, "a kind of request that waits says how it goes on");
    return ReplyIsDue{};
}

NextStep ClientRequest::refuse(int error) const {
    queued().refuse(error);
    return ReplyIsDue{};
}

void ClientRequest::session_ended() noexcept {
    session_ = nullptr;
    queued_ = nullptr;
    release();
}

void ClientRequest::finish() { queued().due = true; }

void ClientRequest::reply_about_file(WaitKind kind) const {
    expects(reply().slot < pool::files_max, "the file has a slot of the directory");
    DaemonContext& daemon = context_.daemon;
    const pool::FileSlot& file = daemon.directory.files[reply().slot];
    if (file.generation.load(relaxed) == reply().generation) {
        daemon.statistics.waited(reply().slot, daemon.clocks.steady.now_ns() - asked_ns_, kind);
        reply().state = static_cast<std::uint32_t>(file.state.load(relaxed));
    }
}

}  // namespace forebay::daemon
