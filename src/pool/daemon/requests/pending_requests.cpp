// Keeps waiting requests in one container for each kind of condition.
#include "pool/daemon/requests/pending_requests.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace forebay::daemon {

void PendingRequests::add(std::unique_ptr<ClientRequest> request, const NextStep& wait) {
    expects(request != nullptr, "it is a request that waits");
    std::visit(
        [&](const auto& until) {
            using Until = std::remove_cvref_t<decltype(until)>;
            if constexpr (std::is_constructible_v<Ticket, Until>) {
                const bool added = by_ticket_.try_emplace(until, std::move(request)).second;
                invariant(added, "one request waits for a ticket");
            } else if constexpr (std::is_same_v<Until, UntilFileClosed>) {
                until_closed_.push_back({until.file, std::move(request)});
            } else if constexpr (std::is_same_v<Until, UntilFilesLeft>) {
                until_files_left_.push_back(std::move(request));
            } else if constexpr (std::is_same_v<Until, UntilDaemonEnds>) {
                until_end_.push_back(std::move(request));
            } else {
                invariant(false, "a request whose reply is due does not wait");
            }
        },
        wait);
}

std::unique_ptr<ClientRequest> PendingRequests::take(const Ticket& ticket) {
    auto found = by_ticket_.extract(ticket);
    return found ? std::move(found.mapped()) : nullptr;
}

PendingRequests::List PendingRequests::take_until_files_left() {
    return std::exchange(until_files_left_, {});
}

PendingRequests::List PendingRequests::take_closed(
    const std::function<bool(const ports::FileIdentity&)>& is_closed) {
    List closed;
    for (ExecWait& one : until_closed_) {
        if (is_closed(one.file)) {
            closed.push_back(std::move(one.request));
        }
    }
    std::erase_if(until_closed_, [](const ExecWait& one) { return one.request == nullptr; });
    return closed;
}

PendingRequests::List PendingRequests::take_until_end() { return std::exchange(until_end_, {}); }

void PendingRequests::session_ended(const Session& session) {
    const auto tell = [&](const std::unique_ptr<ClientRequest>& request) {
        invariant(request != nullptr, "a request that was taken waits no more");
        if (request->is_of(session)) {
            request->session_ended();
        }
    };
    for (const auto& [ticket, request] : by_ticket_) {
        tell(request);
    }
    for (const ExecWait& one : until_closed_) {
        tell(one.request);
    }
    std::ranges::for_each(until_files_left_, tell);
    std::ranges::for_each(until_end_, tell);
}

}  // namespace forebay::daemon
