// Requests that concern the whole pool: drain it, and stop the daemon.
#pragma once

#include "pool/daemon/requests/request.hpp"

namespace forebay::daemon {

// Drains all files. The reply has the error of the first file that has one.
class DrainRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> descriptors) override;

private:
    [[nodiscard]] NextStep go_on() override { return ReplyIsDue{}; }
};

// The reply waits for the end of the daemon. DaemonServer, which reads the question, begins
// the shutdown.
class StopRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& /*question*/,
                                 std::vector<OwnFd> /*descriptors*/) override {
        return UntilDaemonEnds{};
    }

private:
    [[nodiscard]] NextStep go_on() override { return ReplyIsDue{}; }
};

}  // namespace forebay::daemon
