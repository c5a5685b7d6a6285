// A program that is not captured is about to begin. The reply waits until nothing is in the pool
// that the program would miss.
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
