// The clients of the daemon: the processes that use the pool, each from its admission until nothing
// in its log is needed any more.
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
    // The pool and the memory outlive this object.
    ClientAdmission(pool::Pool& pool, SharedLogMemory& memory) : pool_{pool}, memory_{memory} {}

    // Admits a process with the log that SharedLogMemory::prepare has made, and returns its client
    // number. nullopt: there are clients_max clients already; the log is discarded.
    [[nodiscard]] std::optional<std::uint32_t> admit(std::uint64_t process, const pool::Log& log);
    // The client has gone. Its log stays until everything that it committed is drained.
    void dismiss(Session& session);
    // Frees the logs of dismissed clients from which nothing is left to be drained. Called each
    // round.
    void forget_departed();

    // Dismissed clients still occupy places, which become free once their deposits are drained.
    [[nodiscard]] bool some_depart() const noexcept { return !departing_.empty(); }
    [[nodiscard]] bool any() const noexcept { return admitted_ > 0; }
    // How many are admitted and not dismissed.
    [[nodiscard]] std::size_t count() const noexcept { return admitted_; }

private:
    pool::Pool& pool_;
    SharedLogMemory& memory_;
    std::size_t admitted_ = 0;  // clients that are not dismissed
    // Clients that were dismissed, but whose logs are still needed.
    std::vector<std::uint32_t> departing_;
};

}  // namespace forebay::daemon
