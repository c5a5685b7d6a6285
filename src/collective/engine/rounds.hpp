// The rounds of one call as the engine walks through them: which window each (aggregator, round)
// has, and in which order a node visits the aggregators.
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

    // The number of rounds whose windows are known by now: [0, known()).
    [[nodiscard]] std::int64_t known() const noexcept { return known_; }
    // Whether no more rounds will become known.
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    // Makes round `round` known; returns false if there is no such round. Collective if rounds go
    // by claims or in lockstep (plan::ExchangeOrder::all), else local.
    bool reach(std::int64_t round, CallTeam& team, const pattern::View& view,
               const pattern::ViewRange& request);

    // Whether window() may still be called for `round` once one more round is known.
    [[nodiscard]] bool remembers_after_next(std::int64_t round) const noexcept {
        return recent_.empty() || round > known_ - static_cast<std::int64_t>(recent_.size());
    }

    // Sets `out` to the window of (aggregator, round). Contract: the round is known and, if rounds
    // go by claims, one of the last `buffers` + 2.
    void window(std::int64_t round, AggregatorId id, plan::Window& out) const;

    // The i-th aggregator that `node` visits in a round. Nodes begin at different aggregators, so
    // that not all of them send to the same one at a time.
    [[nodiscard]] AggregatorId visited(NodeId node, std::int32_t i) const noexcept;
    // The inverse of visited(): the step at which `node` visits aggregator `id`.
    [[nodiscard]] std::int32_t step_of(NodeId node, AggregatorId id) const noexcept;

    [[nodiscard]] std::int32_t aggregators() const noexcept {
        return static_cast<std::int32_t>(plan_.aggregators.size());
    }
    [[nodiscard]] const plan::Aggregator& aggregator(AggregatorId id) const {
        return plan_.aggregators[id.position()];
    }
    // The staging window that (aggregator, round) uses on the aggregator's node.
    [[nodiscard]] std::size_t window_index(AggregatorId id, std::int64_t round) const noexcept;
    // The staging window of image number `number`, which is this node's copy of a window of another
    // node.
    [[nodiscard]] std::size_t image_index(std::int64_t number) const noexcept;

private:
    // Aggregators that a node visits one after another before it visits any other: all of them or,
    // stepwise, those that write at the same time.
    struct Group {
        std::int32_t first = 0;
        std::int32_t size = 0;
    };
    // The group of aggregator number `number`. Groups are visited in order, so that is also the
    // group of visit number `number`.
    [[nodiscard]] Group group_at(std::int32_t number) const noexcept;
    // The position in `group` at which `node` begins.
    [[nodiscard]] std::int32_t begins_at(NodeId node, const Group& group) const noexcept;

    const plan::Plan& plan_;
    plan::Summary mine_;
    ports::RankPlace place_;
    std::vector<plan::BlockClaims> recent_;  // by claims: the last rounds; round r is at r mod size
    std::int64_t known_ = 0;
    std::int64_t count_ = 0;  // by span: number of all rounds
    // By claims: the first block of the next round.
    std::int64_t next_block_ = 0;
    bool complete_ = false;
};

// The tag of a window while it is open: the call and the round for which it is open. Never 0.
[[nodiscard]] inline std::uint64_t window_tag(std::uint64_t call, std::int64_t round) noexcept {
    return (call << 32) + static_cast<std::uint64_t>(round) + 1;
}

// The tag of image number `number` in its `phase`. Phase 0: ranks give their bytes, or mark the
// bytes that they want. Phase 1 (reads only): ranks take the bytes.
[[nodiscard]] inline std::uint64_t image_tag(std::uint64_t call, std::int64_t number,
                                             std::uint32_t phase) noexcept {
    return (call << 32) + static_cast<std::uint64_t>(number) * 2 + phase + 1;
}

}  // namespace forebay::engine
