// The rounds of one call as the engine walks them: which window each (aggregator, round) is, and
// in which order a node visits the aggregators.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/plan/claims.hpp"
#include "collective/plan/plan.hpp"
#include "foundation/pattern/view.hpp"

#include <cstdint>
#include <vector>

namespace forebay::engine {

class CallRounds {
public:
    CallRounds(const plan::Plan& plan, const plan::Summary& mine, const ports::RankPlace& place);

    [[nodiscard]] const plan::Plan& plan() const noexcept { return plan_; }
    [[nodiscard]] const plan::Summary& mine() const noexcept { return mine_; }

    // Rounds whose windows are known by now: [0, known()).
    [[nodiscard]] std::int64_t known() const noexcept { return known_; }
    // No more will become known.
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    // Collective when rounds go by claims or in lockstep (Exchange::all), local otherwise: makes
    // round `round` known; false when there is no such round.
    bool reach(std::int64_t round, CallTeam& team, const pattern::View& view,
               const pattern::ViewRange& request);

    // Whether window() will still answer for `round` when one more round is known.
    [[nodiscard]] bool remembers_after_next(std::int64_t round) const noexcept {
        return recent_.empty() || round > known_ - static_cast<std::int64_t>(recent_.size());
    }

    // Contract: round is known, and one of the last `buffers` + 2 if rounds go by claims.
    void window(std::int64_t round, AggregatorId id, plan::Window& out) const;

    // The i-th aggregator that node `node` visits in a round: nodes begin at different ones, so
    // that not all send to the same.
    [[nodiscard]] AggregatorId visited(NodeId node, std::int32_t i) const noexcept;
    // The inverse: at which step `node` visits aggregator `id`.
    [[nodiscard]] std::int32_t step_of(NodeId node, AggregatorId id) const noexcept;

    [[nodiscard]] std::int32_t aggregators() const noexcept {
        return static_cast<std::int32_t>(plan_.aggregators.size());
    }
    [[nodiscard]] const plan::Aggregator& aggregator(AggregatorId id) const {
        return plan_.aggregators[id.position()];
    }
    // The staging window that (aggregator, round) uses on the aggregator's node.
    [[nodiscard]] std::size_t window_index(AggregatorId id, std::int64_t round) const noexcept;
    // The staging window of image number `number`: a part of another node's window.
    [[nodiscard]] std::size_t image_index(std::int64_t number) const noexcept;

private:
    // Aggregators that are visited one after another before any other: all, or those that write at
    // the same time.
    struct Group {
        std::int32_t first = 0;
        std::int32_t size = 0;
    };
    // The group of aggregator `number`, which is also that of the `number`-th visit.
    [[nodiscard]] Group group_at(std::int32_t number) const noexcept;
    [[nodiscard]] std::int32_t begins_at(NodeId node, const Group& group) const noexcept;

    const plan::Plan& plan_;
    plan::Summary mine_;
    ports::RankPlace place_;
    std::vector<plan::BlockClaims> recent_;  // by claims: the last rounds, round r at r mod size
    std::int64_t known_ = 0;
    std::int64_t count_ = 0;  // by span: of all rounds
    std::int64_t next_block_ = 0;
    bool complete_ = false;
};

// A window's tag: which call and round it is open for.
[[nodiscard]] inline std::uint64_t window_tag(std::uint64_t call, std::int64_t round) noexcept {
    return (call << 32) + static_cast<std::uint64_t>(round) + 1;
}

// Tag of image number `number` in its `phase` (0: give or want; 1: take).
[[nodiscard]] inline std::uint64_t image_tag(std::uint64_t call, std::int64_t number,
                                             std::uint32_t phase) noexcept {
    return (call << 32) + static_cast<std::uint64_t>(number) * 2 + phase + 1;
}

}  // namespace forebay::engine
