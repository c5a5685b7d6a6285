// A client is about to start a program whose file calls are not captured. The reply waits until all
// files have left the pool, so that the program finds everything in the file system.
#pragma once

#include "pool/daemon/requests/request.hpp"

namespace forebay::daemon {

class UncapturedRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> descriptors) override;

private:
    [[nodiscard]] NextStep go_on() override { return ReplyIsDue{}; }
};

}  // namespace forebay::daemon
