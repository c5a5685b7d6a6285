// The task of a node's leader where aggregators share targets: carries the turns
// (collective/plan/turns.hpp) of its node's aggregators, through the node segment to them and by
// messages to other nodes.
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
    // `throttles`: one per target; keeps what was found where station 0 is on this node.
    TokenForwarder(CallTeam& team, const CallRounds& rounds,
                   std::vector<plan::Throttle>& throttles);
    ~TokenForwarder() override;

    bool attend() override;
    [[nodiscard]] bool settled() override;
    [[nodiscard]] bool through() override { return settled(); }

private:
    struct Chair {
        plan::Station station;
        AggregatorId id;
        TurnBlock* block;
        NodeId before;  // whose aggregator has the station before, and the station after
        NodeId after;
        std::int64_t granted = 0;
        std::int64_t ended = 0;
        std::optional<ports::Communicator::Ticket> coming;
        plan::RingMessage message;  // that is coming
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
