// A process asks to become a client. The reply carries the memory that it is to map, or says that
// the daemon has no room for it. For want of descriptors it is to ask again, for a minute, while
// the daemon frees some. A process that is rejected would neither see the deposits of others nor
// write through the pool; so the pool closes down, and the reply waits until all files have left.
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
    [[nodiscard]] bool has_other_clock(const protocol::ClientQuestion& question) const;
    void tell_without_log() const;
    // Admits the process with the log that SharedLogMemory::prepare has made. nullopt: there are
    // clients_max clients already.
    [[nodiscard]] std::optional<std::uint32_t> admit(const protocol::ClientQuestion& question,
                                                     const pool::Log& log) const;
    [[nodiscard]] NextStep refuse_for_want_of_place(const protocol::ClientQuestion& question);
    // There is no memory, or no descriptor, for the process. For want of descriptors the pool is
    // drained, so that files can give theirs back, and the process is to ask again; the last time
    // that it asks, and for want of memory, it is rejected.
    [[nodiscard]] NextStep reject_for_want(int error, const protocol::ClientQuestion& question);
    // The process goes on without the pool, and the pool closes down: everybody writes through from
    // now on.
    [[nodiscard]] NextStep reject(int error, const std::string& why);

    bool was_client_ = false;   // the session was admitted without a log, and is dismissed now
    bool other_clock_ = false;  // than the daemon: nothing of it can be put in order
    bool drains_ = false;       // see reject_for_want()
    // errno of the reply, which is sent once all files have left; 0: not rejected
    int rejected_ = 0;
};

}  // namespace forebay::daemon
