// The three sources of tickets. Below this border (the pool, the coherence client, background I/O)
// tickets are plain integers; above it they are of types that cannot be mixed up.
#pragma once

#include "foundation/ports/background_io.hpp"
#include "pool/cluster/coherence/coherence_client.hpp"
#include "pool/core/pool.hpp"
#include "pool/daemon/requests/tickets.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace forebay::daemon {

class TicketSources {
public:
    // All outlive it. No coherence client: the daemon is the only one.
    TicketSources(pool::Pool& pool, std::optional<cluster::CoherenceClient>& coherence,
                  ports::BackgroundIo& openings)
        : pool_{pool}, coherence_{coherence}, openings_{openings} {}

    // See pool::Pool.
    [[nodiscard]] TaskTicket ask(std::uint32_t slot, std::uint32_t generation,
                                 const pool::FileTask& task);
    [[nodiscard]] TaskTicket drain_all();

    // For want() and settle(), which a request calls again with the same ticket when it has come
    // back.
    [[nodiscard]] TokenTicket new_token_ticket() { return TokenTicket{next_token_++}; }
    // See cluster::CoherenceClient, which must be there.
    [[nodiscard]] std::optional<tokens::FileAdmission> want(tokens::FileKey file,
                                                            const tokens::TokenWish& wish,
                                                            TokenTicket ticket);
    [[nodiscard]] std::optional<tokens::FileAdmission> settle(tokens::FileKey file,
                                                              TokenTicket ticket);
    void abandon(tokens::FileKey file, TokenTicket ticket);

    // Begins to open a file, on whatever thread. The pool hears that one is being opened.
    [[nodiscard]] OpeningTicket open(std::function<void()> call);
    [[nodiscard]] std::size_t openings_under_way() const noexcept { return opening_.size(); }

    // The tickets that have come back since the last call: of the pool those that are not the
    // coherence client's own, then those of tokens, then those of openings.
    [[nodiscard]] std::vector<ReturnedTicket> returned();

private:
    [[nodiscard]] cluster::CoherenceClient& coherence();

    pool::Pool& pool_;
    std::optional<cluster::CoherenceClient>& coherence_;
    ports::BackgroundIo& openings_;
    std::uint64_t next_token_ = 1;
    std::uint64_t next_opening_ = 1;
    std::set<OpeningTicket> opening_;  // under way
};

}  // namespace forebay::daemon
