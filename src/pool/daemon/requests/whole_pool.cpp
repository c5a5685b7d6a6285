// Drains the whole pool for `forebay pool drain`.
#include "pool/daemon/requests/whole_pool.hpp"

#include "pool/daemon/requests/request_context.hpp"

namespace forebay::daemon {

NextStep DrainRequest::begin(const protocol::ClientQuestion& /*question*/,
                             std::vector<OwnFd> /*descriptors*/) {
    return context().daemon.tickets.drain_all();
}

}  // namespace forebay::daemon
