// A client wants what was deposited of a file before, on whatever node, to be in the file. The
// other nodes come first: the home has this one drain the file, too, where any may have deposits.
// Alone, the daemon drains it.
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
    std::optional<TokenTicket> ticket_;  // nullopt: the daemon is the only one
};

}  // namespace forebay::daemon
