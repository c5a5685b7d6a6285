// The progress task of a node's leader where aggregators share targets. It runs the stations
// (collective/plan/turns.hpp) of its node's aggregators: it tells the aggregators, through the node
// segment, which windows may start, and passes tokens and notices to other nodes by messages.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/rounds.hpp"
#include "collective/plan/turns.hpp"

#include <list>
#include <optional>
#include <vector>

namespace forebay::engine {

class TokenForwarder final : public ProgressTask {
public:
    // `throttles`: one for each target. The destructor stores there what was found, for each target
    // whose station 0 is on this node.
    TokenForwarder(CallTeam& team, const CallRounds& rounds,
                   std::vector<plan::Throttle>& throttles);
    ~TokenForwarder() override;

    bool attend() override;
    [[nodiscard]] bool messages_done() override;
    [[nodiscard]] bool windows_done() override { return messages_done(); }

private:
    // The station of one aggregator of this node, with its connections.
    struct Chair {
        plan::Station station;
        AggregatorId id;
        TurnBlock* block;
        NodeId before;  // the nodes of the previous and of the next station
        NodeId after;
        // Numbers of windows: starts told to the aggregator, and ends told to the station.
        std::int64_t granted = 0;
        std::int64_t ended = 0;
        // The receive of the next message from the previous station, and its buffer.
        std::optional<ports::Communicator::Ticket> coming;
        plan::RingMessage message;
    };
    struct Sent {
        plan::RingMessage message;
        ports::Communicator::Ticket ticket;
    };

    [[nodiscard]] AggregatorId beside(AggregatorId id, std::int32_t shares) const noexcept;
    [[nodiscard]] Chair& chair_of(AggregatorId id);
    bool receive(Chair& chair);
    bool take_message(Chair& chair);
    bool pass_on(Chair& chair);
    bool grant(Chair& chair);

    CallTeam& team_;
    const CallRounds& rounds_;
    std::vector<plan::Throttle>& throttles_;
    std::vector<Chair> chairs_;
    std::list<Sent> sent_;
};

}  // namespace forebay::engine
