// Admits processes as clients, and frees what the pool keeps for a client that has gone.
#include "pool/daemon/requests/client_admission.hpp"

#include "foundation/base/contracts.hpp"

namespace forebay::daemon {

std::optional<std::uint32_t> ClientAdmission::admit(std::uint64_t process, const pool::Log& log) {
    const std::optional<std::uint32_t> client = pool_.admit(process, log);
    if (!client) {
        memory_.discard();
        return std::nullopt;
    }
    memory_.assign(*client);
    ++admitted_;
    ensures(admitted_ + departing_.size() <= pool::clients_max,
            "each client has a place of its own until its log is not needed any more");
    return client;
}

void ClientAdmission::dismiss(Session& session) {
    expects(session.client.has_value(), "only a client is dismissed");
    expects(admitted_ > 0, "who is dismissed was admitted");
    --admitted_;
    pool_.dismiss(*session.client);
    departing_.push_back(*session.client);
    session.client.reset();
    session.opened_for_writing.clear();  // the pool has closed the client's files
    session.maps_nothing = false;
}

void ClientAdmission::forget_departed() {
    std::erase_if(departing_, [&](std::uint32_t client) {
        const bool gone = pool_.forget_if_departed(client);
        if (gone) {
            memory_.forget(client);
        }
        return gone;
    });
}

}  // namespace forebay::daemon
