// The requests that wait for something, by what they wait for.
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

    // `wait` is not ReplyIsDue. No other request waits for the same ticket.
    void add(std::unique_ptr<ClientRequest> request, const NextStep& wait);
    // Null: none waits for the ticket.
    [[nodiscard]] std::unique_ptr<ClientRequest> take(const Ticket& ticket);

    // Some wait until nothing is in the pool any more.
    [[nodiscard]] bool wait_for_files_to_leave() const noexcept {
        return !until_files_left_.empty();
    }
    [[nodiscard]] List take_until_files_left();
    // Those whose file is closed.
    [[nodiscard]] List take_closed(
        const std::function<bool(const ports::FileIdentity&)>& is_closed);
    [[nodiscard]] List take_until_end();

    // Its requests are not wanted any more. They stay until what they wait for has come.
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
