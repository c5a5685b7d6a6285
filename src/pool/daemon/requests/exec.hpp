// A client is about to run a program that may be in the pool. The kernel runs none that somebody
// can write to: the file is drained, and then the daemon has to have closed it.
#pragma once

#include "foundation/ports/storage.hpp"
#include "pool/daemon/requests/request.hpp"

namespace forebay::daemon {

class ExecRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> descriptors) override;

private:
    [[nodiscard]] NextStep go_on() override { return await_closing(); }
    [[nodiscard]] NextStep await_closing() const;

    ports::FileIdentity program_{};
};

}  // namespace forebay::daemon
