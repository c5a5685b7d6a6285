// Routes questions to requests, and what comes back from the pool, the other daemons and the
// threads to the requests that wait for it. What a request does is its own: see request.hpp.
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
    // It outlives the dispatcher.
    explicit Dispatcher(DaemonContext& daemon) : context_{daemon} {}
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;
    ~Dispatcher() = default;

    // Begins what is asked for. The session has a reply more from then on, which may be due.
    void receive(Session& session, const protocol::ClientQuestion& question,
                 std::vector<OwnFd> descriptors);
    // The session said something that is no question: it gets one more reply, and no other.
    static void reject_malformed(Session& session);

    struct Progress {
        bool any = false;         // something that a session waits for went on
        bool asks_again = false;  // and the pool, or somebody else, was asked for more
    };
    // Tickets have come back; also looks for whatever else requests wait for.
    Progress resume(std::span<const ReturnedTicket> returned);

    // The other side of the session is gone, or is not to be served: nothing of it is answered.
    void drop_replies(Session& session);
    // The session, which owes no replies, is over; what its client committed counts.
    void end_session(Session& session);

    // Does what follows from a round of the pool. True when anything was done.
    bool run_once();
    [[nodiscard]] bool has_clients() const noexcept { return context_.clients.any(); }
    // The daemon ends: the replies to those that asked for it.
    void reply_to_stops(int error);

private:
    [[nodiscard]] std::unique_ptr<ClientRequest> make_request(protocol::QuestionKind ask,
                                                              Session& session, QueuedReply& reply);
    void carry_on(std::unique_ptr<ClientRequest> request, const NextStep& next);

    RequestContext context_;
};

}  // namespace forebay::daemon
