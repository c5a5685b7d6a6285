// A client asks the pool to do something with a file that it has open: sync it (or only drain it),
// let it leave the pool, or truncate it. The reply is due when the pool has done that.
#pragma once

#include "pool/daemon/requests/request.hpp"

namespace forebay::daemon {

class FileTaskRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> descriptors) override;

private:
    [[nodiscard]] NextStep go_on() override;

    WaitKind kind_ = WaitKind::drain;
};

}  // namespace forebay::daemon
