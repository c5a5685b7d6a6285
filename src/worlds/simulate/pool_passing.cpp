// Requests between nodes, and their costs on interfaces and cores.
#include "worlds/simulate/pool_passing.hpp"

#include "worlds/simulate/pool_node.hpp"

#include <algorithm>
#include <utility>

namespace forebay::sim {

void PoolPassing::run_on(tokens::Node to, std::function<void()> what) {
    const std::int32_t actors = my_.ports.communicator.place().locals;
    my_.ports.life.tell(Rank{static_cast<std::int32_t>(to) * actors}, std::move(what));
}

std::optional<std::uint64_t> PoolPassing::ask(const ReadWish& wish) {
    const tokens::Parent parent = my_.member.parent_of(wish.file);
    if (parent.grant == 0) {
        return std::nullopt;
    }
    const std::uint64_t number = next_++;
    asked_[number] = {};
    PoolNode* const other = my_.all[parent.node].get();
    run_on(parent.node,
           [other, one = Waiting{
                       .from = my_.self, .number = number, .grant = parent.grant, .wish = wish}] {
               other->passing().heard_.push_back(one);
               other->ring();
           });
    return number;
}

std::optional<PoolPassing::Outcome> PoolPassing::take(std::uint64_t number) {
    const auto found = asked_.find(number);
    if (found == asked_.end()) {
        return Outcome{.refused = true};
    }
    const Asked one = found->second;
    if (!one.outcome || one.at > now()) {
        return std::nullopt;
    }
    asked_.erase(found);
    if (!one.outcome->refused) {
        received_ += static_cast<std::int64_t>(one.outcome->bytes);
        my_.ports.life.compute(static_cast<double>(one.outcome->bytes) / costs_.pass_rate);
    }
    return one.outcome;
}

bool PoolPassing::run_once() {
    waiting_.insert(waiting_.end(), heard_.begin(), heard_.end());
    heard_.clear();
    return std::erase_if(waiting_, [this](Waiting& one) { return pass_on(one); }) > 0;
}

double PoolPassing::until_next(double most) const {
    for (const auto& [number, one] : asked_) {
        if (one.outcome) {
            most = std::min(most, std::max(0.0, one.at - now()));
        }
    }
    return most;
}

pool::SharedBytes PoolPassing::look(Waiting& one) {
    const auto [slots, later] = my_.member.passed_on(one.wish.file, one.grant);
    for (const std::uint32_t slot : slots) {
        const pool::SharedBytes shared =
            my_.pool.share(slot, one.wish.seen, one.wish.range, !one.begun);
        if (shared.state != pool::SharedBytes::State::none) {
            one.begun = true;
            return shared;
        }
    }
    return {.state = later ? pool::SharedBytes::State::coming : pool::SharedBytes::State::none};
}

// True: the request has been answered.
bool PoolPassing::pass_on(Waiting& one) {
    const pool::SharedBytes shared = look(one);
    if (shared.state == pool::SharedBytes::State::coming) {
        return false;
    }
    const bool there = shared.state == pool::SharedBytes::State::there;
    const std::size_t bytes = there ? shared.bytes.size() : 0;
    if (there) {
        my_.ports.life.compute(static_cast<double>(bytes) / costs_.pass_rate);
    }
    answer(one, {.refused = !there, .bytes = bytes});
    return true;
}

void PoolPassing::answer(const Waiting& one, const Outcome& outcome) {
    PoolNode* const other = my_.all[one.from].get();
    PoolPassing& its = other->passing();
    const double begin = std::max({now(), out_free_, its.in_free_});
    const double end = begin + static_cast<double>(outcome.bytes) / costs_.link_rate;
    out_free_ = end;
    its.in_free_ = end;
    run_on(one.from, [other, number = one.number, outcome, end] {
        const auto found = other->passing().asked_.find(number);
        if (found != other->passing().asked_.end()) {
            found->second = {.outcome = outcome, .at = end};
        }
        other->ring();
    });
}

}  // namespace forebay::sim
