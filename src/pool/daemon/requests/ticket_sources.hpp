// The three places that give out tickets for work that ends later: the pool, the coherence client,
// and the background threads. These use plain integers; here they become types that cannot be mixed
// up.
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
    // All parameters outlive this object. `coherence` is empty where there are no other daemons.
    TicketSources(pool::Pool& pool, std::optional<cluster::CoherenceClient>& coherence,
                  ports::BackgroundIo& openings)
        : pool_{pool}, coherence_{coherence}, openings_{openings} {}

    // As Pool::ask and Pool::drain_all.
    [[nodiscard]] TaskTicket ask(std::uint32_t slot, std::uint32_t generation,
                                 const pool::FileTask& task);
    [[nodiscard]] TaskTicket drain_all();

    // A ticket for want() or settle(). When it returns, the request calls the same function again
    // with the same ticket.
    [[nodiscard]] TokenTicket new_token_ticket() { return TokenTicket{next_token_++}; }
    // As the functions of cluster::CoherenceClient. Contract: there is one.
    [[nodiscard]] std::optional<tokens::FileAdmission> want(tokens::FileKey file,
                                                            const tokens::TokenWish& wish,
                                                            TokenTicket ticket);
    [[nodiscard]] std::optional<tokens::FileAdmission> settle(tokens::FileKey file,
                                                              TokenTicket ticket);
    void abandon(tokens::FileKey file, TokenTicket ticket);

    // Runs `call`, which opens a file, on a background thread. The pool is told how many files are
    // being opened.
    [[nodiscard]] OpeningTicket open(std::function<void()> call);
    [[nodiscard]] std::size_t openings_under_way() const noexcept { return opening_.size(); }

    // The tickets that have returned since the last call: first those of the pool, except for the
    // coherence client's own, then those of tokens, then those of openings.
    [[nodiscard]] std::vector<ReturnedTicket> returned();

private:
    [[nodiscard]] cluster::CoherenceClient& coherence();

    pool::Pool& pool_;
    std::optional<cluster::CoherenceClient>& coherence_;
    ports::BackgroundIo& openings_;
    std::uint64_t next_token_ = 1;
    std::uint64_t next_opening_ = 1;
    std::set<OpeningTicket> opening_;  // openings under way
};

}  // namespace forebay::daemon
