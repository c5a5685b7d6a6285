// The order in which a node's leader deals with other nodes. Nodes visit aggregators in rotated
// order; both ends of every message sort theirs by (round, step of the sender, sender), so that the
// message with the lowest key can always go on: no cycle of waiting leaders is possible.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/rounds.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::engine {

// The windows of other nodes that this node has data in, in the order it visits them.
class OutwardSteps {
public:
    struct Step {
        std::int64_t round = 0;
        AggregatorId id;
    };

    OutwardSteps(CallTeam& team, const CallRounds& rounds) : team_{team}, rounds_{rounds} {}

    // The next one of the rounds known so far; `window` becomes its window.
    std::optional<Step> next(plan::Window& window);
    // Every known round has been walked through.
    [[nodiscard]] bool exhausted() const noexcept { return round_ == rounds_.known(); }

private:
    CallTeam& team_;
    const CallRounds& rounds_;
    std::int64_t round_ = 0;
    std::int32_t i_ = 0;
};

// The parts that other nodes have in this node's windows, in the order in which they come.
class InwardSteps {
public:
    struct Step {
        std::int64_t round = 0;
        AggregatorId id;
        NodeId from;
    };

    InwardSteps(CallTeam& team, const CallRounds& rounds) : team_{team}, rounds_{rounds} {}

    std::optional<Step> next();
    // Contract: next() has just said that there is none. True: nor will there be in known rounds.
    [[nodiscard]] bool exhausted() const noexcept {
        return position_ == of_round_.size() && round_ == rounds_.known();
    }

private:
    void load(std::int64_t round);

    CallTeam& team_;
    const CallRounds& rounds_;
    std::int64_t round_ = 0;  // the next to be loaded
    std::vector<Step> of_round_;
    std::size_t position_ = 0;
    plan::Window window_;
};

}  // namespace forebay::engine
