// A process is about to start a program whose calls are not captured: all files leave the pool. Or
// that program did not start after all.
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
