// Questions that can be answered at once: those for shared memory to map (watch, log, lend,
// borrow), for the status, and those that join a file that is known, close one, or adjust how the
// pool treats it.
#pragma once

#include "pool/daemon/requests/request.hpp"

namespace forebay::daemon {

class ImmediateRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> descriptors) override;

private:
    void join(const protocol::ClientQuestion& question) const;
    void close(const protocol::ClientQuestion& question) const;
    void adjust(const protocol::ClientQuestion& question) const;
    void pass_status() const;
};

}  // namespace forebay::daemon
