// Converts between typed tickets and the integers of the pool, the coherence client and the
// background threads.
#include "pool/daemon/requests/ticket_sources.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <utility>

namespace forebay::daemon {

TaskTicket TicketSources::ask(std::uint32_t slot, std::uint32_t generation,
                              const pool::FileTask& task) {
    expects(slot < pool::files_max, "a task is for a slot of the directory");
    return TaskTicket{pool_.ask(slot, generation, task)};
}

TaskTicket TicketSources::drain_all() { return TaskTicket{pool_.drain_all()}; }

cluster::CoherenceClient& TicketSources::coherence() {
    expects(coherence_.has_value(), "tokens are asked for where there are other daemons");
    return *coherence_;
}

std::optional<tokens::FileAdmission> TicketSources::want(tokens::FileKey file,
                                                         const tokens::TokenWish& wish,
                                                         TokenTicket ticket) {
    expects(ticket.number < next_token_, "the ticket was given out here");
    return coherence().want(file, wish, ticket.number);
}

std::optional<tokens::FileAdmission> TicketSources::settle(tokens::FileKey file,
                                                           TokenTicket ticket) {
    expects(ticket.number < next_token_, "the ticket was given out here");
    return coherence().settle(file, ticket.number);
}

void TicketSources::abandon(tokens::FileKey file, TokenTicket ticket) {
    coherence().abandon(file, ticket.number);
}

OpeningTicket TicketSources::open(std::function<void()> call) {
    const OpeningTicket ticket{next_opening_++};
    opening_.insert(ticket);
    pool_.being_opened(static_cast<std::int64_t>(opening_.size()));
    openings_.begin(ticket.number, [call = std::move(call)] {
        call();
        return std::int64_t{0};
    });
    return ticket;
}

std::vector<ReturnedTicket> TicketSources::returned() {
    std::vector<ReturnedTicket> returned;
    for (const pool::TaskCompletion& one : pool_.done()) {
        if (!coherence_ || !coherence_->took(one)) {
            returned.push_back({TaskTicket{one.ticket}, one.error});
        }
    }
    if (coherence_) {
        for (const std::uint64_t number : coherence_->again()) {
            returned.push_back({TokenTicket{number}, 0});
        }
    }
    for (const ports::BackgroundIo::Ended& ended : openings_.ended()) {
        const OpeningTicket ticket{ended.ticket};
        const bool was_under_way = opening_.erase(ticket) == 1;
        invariant(was_under_way, "an opening that ends was under way");
        returned.push_back({ticket, 0});
    }
    // A file whose opening has ended becomes known to the pool, or is given up, before the pool's
    // next round.
    pool_.being_opened(static_cast<std::int64_t>(opening_.size()));
    return returned;
}

}  // namespace forebay::daemon
