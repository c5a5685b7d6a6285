// The processes that use the pool: from their admission until nothing in their logs is needed any
// more.
#pragma once

#include "pool/core/pool.hpp"
#include "pool/daemon/memory/memory.hpp"
#include "pool/daemon/session.hpp"
#include "pool/protocol/log.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::daemon {

class ClientAdmission {
public:
    // Both outlive it.
    ClientAdmission(pool::Pool& pool, SharedLogMemory& memory) : pool_{pool}, memory_{memory} {}

    // With the log that the memory has prepared, which is discarded where there is no place.
    [[nodiscard]] std::optional<std::uint32_t> admit(std::uint64_t process, const pool::Log& log);
    // The session is no client any more; what it committed counts.
    void dismiss(Session& session);
    // Gives the memory of dismissed clients back, once nothing in it is needed any more.
    void forget_departed();

    // Places that come free once what programs left is drained.
    [[nodiscard]] bool some_depart() const noexcept { return !departing_.empty(); }
    [[nodiscard]] bool any() const noexcept { return admitted_ > 0; }

private:
    pool::Pool& pool_;
    SharedLogMemory& memory_;
    std::size_t admitted_ = 0;              // and not dismissed
    std::vector<std::uint32_t> departing_;  // dismissed, and their logs are still needed
};

}  // namespace forebay::daemon
