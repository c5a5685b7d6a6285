// The requests whose replies are not due yet, ordered by what they wait for. The dispatcher puts
// them in and takes them out.
#pragma once

#include "pool/daemon/requests/request.hpp"
#include "pool/daemon/requests/tickets.hpp"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace forebay::daemon {

class PendingRequests {
public:
    using List = std::vector<std::unique_ptr<ClientRequest>>;

    // Contract: `wait` is not ReplyIsDue, and no other request waits for the same ticket.
    void add(std::unique_ptr<ClientRequest> request, const NextStep& wait);
    // Null: no request waits for the ticket.
    [[nodiscard]] std::unique_ptr<ClientRequest> take(const Ticket& ticket);

    // True when a request waits until no file is in the pool any more.
    [[nodiscard]] bool wait_for_files_to_leave() const noexcept {
        return !until_files_left_.empty();
    }
    [[nodiscard]] List take_until_files_left();
    // The requests that wait until the daemon has closed a file, and whose file is closed.
    [[nodiscard]] List take_closed(
        const std::function<bool(const ports::FileIdentity&)>& is_closed);
    [[nodiscard]] List take_until_end();

    // The session has ended: its requests are no longer wanted. They stay here until what they wait
    // for has happened, and are then abandoned, so that tickets and tokens are given back.
    void session_ended(const Session& session);

private:
    struct ExecWait {
        ports::FileIdentity file;
        std::unique_ptr<ClientRequest> request;
    };

    std::map<Ticket, std::unique_ptr<ClientRequest>> by_ticket_;
    std::vector<ExecWait> until_closed_;
    List until_files_left_;
    List until_end_;
};

}  // namespace forebay::daemon
