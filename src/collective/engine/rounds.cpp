// Rounds by span are all known from the start, or, in lockstep, one more after each barrier. Rounds
// by claims become known one after another.
#include "collective/engine/rounds.hpp"

#include <algorithm>

namespace forebay::engine {

CallRounds::CallRounds(const plan::Plan& plan, const plan::Summary& mine,
                       const ports::RankPlace& place)
    : plan_{plan}, mine_{mine}, place_{place} {
    if (plan.rounds == plan::RoundKind::by_span) {
        const bool lockstep = plan.exchange == plan::ExchangeOrder::all;
        count_ = plan.round_count();
        known_ = lockstep ? 0 : count_;
        complete_ = !lockstep;
    } else {
        recent_.resize(static_cast<std::size_t>(plan.buffers) + 2);
        next_block_ = plan.span.begin.bytes() / plan.block_bytes;
    }
}

bool CallRounds::reach(std::int64_t round, CallTeam& team, const pattern::View& view,
                       const pattern::ViewRange& request) {
    if (round < known_ || complete_) {
        return round < known_;
    }
    if (plan_.exchange == plan::ExchangeOrder::all) {
        team.attend_until([&team] { return team.windows_done(); });
    }
    if (recent_.empty()) {
        complete_ = known_ == count_;
        if (!complete_) {
            team.barrier();
            ++known_;
        }
        return !complete_;
    }
    // The oldest remembered round will be forgotten now. Ranks do not wait for empty windows, so an
    // aggregator whose windows have been empty for long may not have looked at that round yet.
    team.attend_until([&team] { return team.may_forget_a_round(); });
    const std::int64_t blocks_max = plan_.window_bytes / plan_.block_bytes;
    const plan::BlockClaims mine =
        plan::claim(view, request, {plan_.block_bytes, next_block_}, blocks_max);
    const plan::BlockClaims all = team.all_reduce(mine, blocks_max);
    if (all.finished()) {
        complete_ = true;
        return false;
    }
    recent_[static_cast<std::size_t>(round) % recent_.size()] = all;
    next_block_ = all.horizon;
    known_ = round + 1;
    complete_ = all.horizon == plan::BlockClaims::no_horizon;
    return true;
}

void CallRounds::window(std::int64_t round, AggregatorId id, plan::Window& out) const {
    if (recent_.empty()) {
        if (round < plan_.rounds_of(id)) {
            plan::window_by_span(plan_, id, round, out);
        } else {
            out.clear();
        }
        return;
    }
    expects(round < known_ && round >= known_ - static_cast<std::int64_t>(recent_.size()),
            "the round is one of the recent ones");
    plan::window_by_claims(plan_, id, recent_[static_cast<std::size_t>(round) % recent_.size()],
                           out);
}

CallRounds::Group CallRounds::group_at(std::int32_t number) const noexcept {
    const std::int32_t all = aggregators();
    const std::int32_t most = plan_.exchange == plan::ExchangeOrder::stepwise
                                  ? all / plan_.shares * plan_.shares_at_once
                                  : all;
    const std::int32_t first = number - number % most;
    return {first, std::min(most, all - first)};
}

std::int32_t CallRounds::begins_at(NodeId node, const Group& group) const noexcept {
    if (place_.nodes >= group.size) {
        return node.value() % group.size;
    }
    return static_cast<std::int32_t>(std::int64_t{node.value()} * group.size / place_.nodes);
}

AggregatorId CallRounds::visited(NodeId node, std::int32_t i) const noexcept {
    const Group group = group_at(i);
    return AggregatorId{group.first + (begins_at(node, group) + i - group.first) % group.size};
}

std::int32_t CallRounds::step_of(NodeId node, AggregatorId id) const noexcept {
    const Group group = group_at(id.value());
    const std::int32_t within = id.value() - group.first;
    return group.first + (within - begins_at(node, group) + group.size) % group.size;
}

std::size_t CallRounds::window_index(AggregatorId id, std::int64_t round) const noexcept {
    const auto buffers = static_cast<std::size_t>(plan_.buffers);
    const auto before = static_cast<std::size_t>(plan_.aggregators[id.position()].on_node);
    return before * buffers + static_cast<std::size_t>(round) % buffers;
}

std::size_t CallRounds::image_index(std::int64_t number) const noexcept {
    const auto own = static_cast<std::size_t>(plan_.aggregators_on_a_node) *
                     static_cast<std::size_t>(plan_.buffers);
    return own + static_cast<std::size_t>(number) % std::size_t{plan::images_for_others};
}

}  // namespace forebay::engine
