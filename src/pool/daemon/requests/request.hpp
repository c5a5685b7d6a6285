// A question of a client, from its arrival until its reply is due. Each kind of request is a state
// machine of its own: begin() and resume() take it as far as it comes, and say what it waits for.
#pragma once

#include "foundation/ports/storage.hpp"
#include "pool/daemon/requests/tickets.hpp"
#include "pool/daemon/session.hpp"
#include "pool/protocol/messages.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace forebay::daemon {

struct RequestContext;

struct ReplyIsDue {};
// Nothing is in the pool any more, but for what cannot be drained.
struct UntilFilesLeft {};
// The daemon has drained and closed the file, unless clients have it open.
struct UntilFileClosed {
    ports::FileIdentity file;
};
struct UntilDaemonEnds {};

using NextStep = std::variant<ReplyIsDue, TaskTicket, TokenTicket, OpeningTicket, UntilFilesLeft,
                              UntilFileClosed, UntilDaemonEnds>;

class ClientRequest {
public:
    // The reply is the session's; both outlive the request, or session_ended() is called before.
    ClientRequest(RequestContext& context, Session& session, QueuedReply& reply);
    ClientRequest(const ClientRequest&) = delete;
    ClientRequest& operator=(const ClientRequest&) = delete;
    virtual ~ClientRequest() = default;

    // Once. The descriptors are those that came with the question.
    [[nodiscard]] virtual NextStep begin(const protocol::ClientQuestion& question,
                                         std::vector<OwnFd> descriptors) = 0;
    // What it waited for has come, with an errno, which is the reply's unless the request knows
    // better.
    [[nodiscard]] NextStep resume(int error);
    // In the place of resume(), where the session has ended.
    virtual void abandon() {}

    [[nodiscard]] bool is_of(const Session& session) const noexcept { return session_ == &session; }
    [[nodiscard]] bool is_wanted() const noexcept { return session_ != nullptr; }
    // Nobody waits for the reply any more.
    void session_ended() noexcept;
    // The last step: the session may send the reply.
    void finish();

protected:
    // What it waited for has come. Only a request that waits is asked.
    [[nodiscard]] virtual NextStep go_on();
    // Lets go of what nobody but the client wanted.
    virtual void release() noexcept {}

    [[nodiscard]] RequestContext& context() const noexcept { return context_; }
    [[nodiscard]] Session& session() const;
    [[nodiscard]] QueuedReply& queued() const;
    [[nodiscard]] protocol::DaemonReply& reply() const { return queued().reply; }
    [[nodiscard]] NextStep refuse(int error) const;
    // The reply says how the file stands now, and its statistics how long the client has waited.
    void reply_about_file() const;

private:
    RequestContext& context_;
    Session* session_;
    QueuedReply* queued_;
    std::int64_t asked_ns_;
};

}  // namespace forebay::daemon
