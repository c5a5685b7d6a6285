// A process becomes a client: whether the daemon has room for it, and the memory that it gets to
// map. A process that is rejected gets its reply when all files have left: it would not see what is
// in the pool, and would write past it.
#pragma once

#include "pool/daemon/requests/request.hpp"
#include "pool/protocol/log.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace forebay::daemon {

class HelloRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> descriptors) override;

private:
    [[nodiscard]] NextStep go_on() override;
    [[nodiscard]] NextStep admit_with_log(const protocol::ClientQuestion& question);
    [[nodiscard]] NextStep admit_without_log(const protocol::ClientQuestion& question);
    // Gives the client the log that the memory has prepared; nullopt: there is no place for it.
    [[nodiscard]] std::optional<std::uint32_t> admit(const protocol::ClientQuestion& question,
                                                     const pool::Log& log) const;
    [[nodiscard]] NextStep refuse_for_want_of_place(const protocol::ClientQuestion& question);
    // The process goes on without the pool.
    [[nodiscard]] NextStep reject(int error, const std::string& why);

    int rejected_ = 0;  // errno of the reply, once all files have left
};

}  // namespace forebay::daemon
