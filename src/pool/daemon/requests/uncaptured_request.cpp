// Begins a period in which all files are out of the pool, or takes back that one was to begin.
#include "pool/daemon/requests/uncaptured_request.hpp"

#include "pool/daemon/requests/request_context.hpp"

namespace forebay::daemon {

NextStep UncapturedRequest::begin(const protocol::ClientQuestion& question,
                                  std::vector<OwnFd> /*descriptors*/) {
    if ((question.flags & protocol::not_started) != 0) {
        context().uncaptured.not_begun(session());
        return ReplyIsDue{};
    }
    if (context().uncaptured.begin(session(), question)) {
        return UntilFilesLeft{};
    }
    return ReplyIsDue{};
}

}  // namespace forebay::daemon
