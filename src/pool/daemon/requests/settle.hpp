// A client wants everything that was deposited for a file so far, on whatever node, to be in the
// file. The file's home orders every node that may have deposits to drain it, including this one.
// Where there are no other daemons, this daemon just drains the file.
#pragma once

#include "pool/cluster/tokens/token.hpp"
#include "pool/daemon/requests/request.hpp"

#include <optional>

namespace forebay::daemon {

class SettleRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> descriptors) override;
    void abandon() override;

private:
    [[nodiscard]] NextStep go_on() override;
    [[nodiscard]] NextStep ask_home();

    tokens::FileKey key_{};
    std::optional<TokenTicket> ticket_;  // nullopt: there are no other daemons
};

}  // namespace forebay::daemon
