// The sums, with the slowest target kept apart from them.
#include "collective/plan/rates.hpp"

namespace forebay::plan {

void TargetRates::add(TargetId target, const Throttle& throttle) noexcept {
    const bool is_found = throttle.found();
    if (is_found) {
        ++settled;
        limits += throttle.best();
        found += throttle.rate();
    }
    const double usual = throttle.usual_rate();
    if (usual <= 0) {
        return;
    }
    sum += usual;
    ++targets;
    if (usual < slowest) {
        slowest = usual;
        slowest_target = target.value();
        slowest_limit = is_found ? throttle.best() : 0;
        slowest_found = is_found ? throttle.rate() : 0;
    }
}

TargetRates merge(const TargetRates& a, const TargetRates& b) noexcept {
    TargetRates both = a.slowest <= b.slowest ? a : b;
    both.sum = a.sum + b.sum;
    both.targets = a.targets + b.targets;
    both.settled = a.settled + b.settled;
    both.limits = a.limits + b.limits;
    both.found = a.found + b.found;
    return both;
}

bool tells_rates(const Aggregator& aggregator, NodeId node, LocalRank local, bool shared) noexcept {
    const LocalRank teller = shared ? LocalRank{0} : aggregator.local;
    return aggregator.share == 0 && aggregator.node == node && local == teller;
}

std::optional<SlowTarget> slow_target(const TargetRates& rates) noexcept {
    if (rates.targets < 2) {
        return std::nullopt;
    }
    const double usual = (rates.sum - rates.slowest) / (rates.targets - 1);
    if (rates.slowest * slow_factor >= usual) {
        return std::nullopt;
    }
    return SlowTarget{TargetId{rates.slowest_target}, rates.slowest, usual, rates.slowest_limit};
}

FoundLimit found_limit(const TargetRates& rates) noexcept {
    const std::optional<SlowTarget> slow = slow_target(rates);
    const bool apart = slow && slow->limit > 0;
    const std::int32_t settled = rates.settled - (apart ? 1 : 0);
    if (settled == 0) {
        return {};
    }
    const std::int32_t limits = rates.limits - (apart ? slow->limit : 0);
    const double found = rates.found - (apart ? rates.slowest_found : 0);
    return {(limits + settled / 2) / settled, found / settled};
}

}  // namespace forebay::plan
