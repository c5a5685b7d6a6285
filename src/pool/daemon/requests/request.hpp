// A question of a client, from its arrival until its reply is due. Each kind of request is a state
// machine: begin() and resume() take it as far as it can go without blocking the daemon's only
// thread, and return what it waits for next.
#pragma once

#include "foundation/ports/storage.hpp"
#include "pool/daemon/requests/tickets.hpp"
#include "pool/daemon/session.hpp"
#include "pool/daemon/status/file_statistics.hpp"
#include "pool/protocol/messages.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace forebay::daemon {

struct RequestContext;

struct ReplyIsDue {};
// Until no file is in the pool any more, except for those that cannot be drained.
struct UntilFilesLeft {};
// Until the daemon has drained and closed the file, or a client has it open (again).
struct UntilFileClosed {
    ports::FileIdentity file;
};
struct UntilDaemonEnds {};

using NextStep = std::variant<ReplyIsDue, TaskTicket, TokenTicket, OpeningTicket, UntilFilesLeft,
                              UntilFileClosed, UntilDaemonEnds>;

class ClientRequest {
public:
    // The session owns the reply. Both outlive the request, unless session_ended() is called
    // before.
    ClientRequest(RequestContext& context, Session& session, QueuedReply& reply);
    ClientRequest(const ClientRequest&) = delete;
    ClientRequest& operator=(const ClientRequest&) = delete;
    virtual ~ClientRequest() = default;

    // Called once. `descriptors` are those that came with the question (SCM_RIGHTS).
    [[nodiscard]] virtual NextStep begin(const protocol::ClientQuestion& question,
                                         std::vector<OwnFd> descriptors) = 0;
    // The event that the request waited for has happened. `error` is an errno, or 0, and becomes
    // that of the reply unless the request sets another one.
    [[nodiscard]] NextStep resume(int error);
    // Called instead of resume() when the session has ended meanwhile: gives back what was obtained
    // for it.
    virtual void abandon() {}

    [[nodiscard]] bool is_of(const Session& session) const noexcept { return session_ == &session; }
    [[nodiscard]] bool is_wanted() const noexcept { return session_ != nullptr; }
    // Nobody waits for the reply any more.
    void session_ended() noexcept;
    // The last step: completes the reply, so that the session may send it.
    void finish();

protected:
    // The event that the request waited for has happened. Every kind of request that ever waits
    // overrides this.
    [[nodiscard]] virtual NextStep go_on();
    // The session has ended: frees what only the client needed, while the request still waits.
    virtual void release() noexcept {}

    [[nodiscard]] RequestContext& context() const noexcept { return context_; }
    [[nodiscard]] Session& session() const;
    [[nodiscard]] QueuedReply& queued() const;
    [[nodiscard]] protocol::DaemonReply& reply() const { return queued().reply; }
    [[nodiscard]] NextStep refuse(int error) const;
    // Fills in the file's present state, and adds the time that the client has waited to the file's
    // statistics.
    void reply_about_file(WaitKind kind) const;

private:
    RequestContext& context_;
    Session* session_;
    QueuedReply* queued_;
    std::int64_t asked_ns_;
};

}  // namespace forebay::daemon
