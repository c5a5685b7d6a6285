// Makes a request object of each question that a client sends over its socket, and resumes the
// request when what it waits for has happened: the pool, another daemon or a thread has returned
// its ticket, or a condition holds. How a request is answered is the request's own business: see
// request.hpp.
#pragma once

#include "pool/daemon/requests/request_context.hpp"
#include "pool/daemon/requests/tickets.hpp"
#include "pool/daemon/session.hpp"
#include "pool/protocol/messages.hpp"

#include <memory>
#include <span>
#include <vector>

namespace forebay::daemon {

class Dispatcher {
public:
    // The context outlives the dispatcher.
    explicit Dispatcher(DaemonContext& daemon) : context_{daemon} {}
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;
    ~Dispatcher() = default;

    // Begins the request that the question asks for. From then on the session owes one more reply,
    // which may be due at once.
    void receive(Session& session, const protocol::ClientQuestion& question,
                 std::vector<OwnFd> descriptors);
    // The session sent bytes that are no valid question. It gets EPROTO as its last reply, and is
    // closed.
    static void reject_malformed(Session& session);

    struct Progress {
        bool any = false;  // at least one request was resumed
        // One of them has to wait again, for the pool or another daemon.
        bool asks_again = false;
    };
    // Resumes the requests whose tickets have returned, and those whose other conditions hold by
    // now.
    Progress resume(std::span<const ReturnedTicket> returned);

    // The session's socket is closed or is to be closed: its pending requests become unwanted, and
    // no reply is sent.
    void drop_replies(Session& session);
    // The session, which owes no replies any more, is closed. What its client has committed stays
    // valid.
    void end_session(Session& session);

    // Does what may follow from a round of the pool: files come back, departed clients are freed.
    // True when anything was done.
    bool run_once();
    [[nodiscard]] bool has_clients() const noexcept { return context_.clients.any(); }
    // The daemon ends: completes the replies to StopRequests, with this errno.
    void reply_to_stops(int error);

private:
    [[nodiscard]] std::unique_ptr<ClientRequest> make_request(protocol::QuestionKind ask,
                                                              Session& session, QueuedReply& reply);
    void carry_on(std::unique_ptr<ClientRequest> request, const NextStep& next);

    RequestContext context_;
};

}  // namespace forebay::daemon
