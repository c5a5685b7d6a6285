// The order in which a node's leader exchanges messages with other nodes. Nodes visit aggregators
// in rotated order, and both ends of every message sort their messages by (round, step of the
// sender, sender). So the message with the lowest key can always go on, and there is no cycle of
// leaders that wait for one another.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/rounds.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::engine {

// The windows of other nodes in which this node has bytes, in the order in which it visits them.
class OutwardSteps {
public:
    struct Step {
        std::int64_t round = 0;
        AggregatorId id;
    };

    OutwardSteps(CallTeam& team, const CallRounds& rounds) : team_{team}, rounds_{rounds} {}

    // The next step of the rounds known so far, with its window in `window`; nullopt: there is none
    // yet.
    std::optional<Step> next(plan::Window& window);
    // Whether every known round has been walked through.
    [[nodiscard]] bool exhausted() const noexcept { return round_ == rounds_.known(); }

private:
    CallTeam& team_;
    const CallRounds& rounds_;
    std::int64_t round_ = 0;
    std::int32_t i_ = 0;
};

// The parts that other nodes have in this node's windows, in the order in which their messages are
// used.
class InwardSteps {
public:
    struct Step {
        std::int64_t round = 0;
        AggregatorId id;
        NodeId from;
    };

    InwardSteps(CallTeam& team, const CallRounds& rounds) : team_{team}, rounds_{rounds} {}

    // The next step of the rounds known so far; nullopt: there is none yet.
    std::optional<Step> next();
    // Whether the known rounds have no more steps. Contract: next() has just returned nullopt.
    [[nodiscard]] bool exhausted() const noexcept {
        return position_ == of_round_.size() && round_ == rounds_.known();
    }

private:
    void load(std::int64_t round);

    CallTeam& team_;
    const CallRounds& rounds_;
    std::int64_t round_ = 0;  // the next round to be loaded
    std::vector<Step> of_round_;
    std::size_t position_ = 0;
    plan::Window window_;
};

}  // namespace forebay::engine
