// A client is about to execve() a file that may be in the pool. The kernel fails an execve with
// ETXTBSY as long as any process has the file open for writing, and the daemon itself keeps a
// written file open until it has drained and closed it. So the reply waits for that, or, if a
// client still has the file open, only for the draining: the execve then fails as it would without
// Forebay.
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
