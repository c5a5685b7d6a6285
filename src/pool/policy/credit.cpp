// Computes shares, demands and reserves of log memory from counts of blocks.
#include "pool/policy/credit.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

// 1/spare_part of the cap is kept for clients that come later.
constexpr std::int64_t spare_part = 8;

}  // namespace

std::int64_t fair_share(const LeaseTotals& lending) noexcept {
    return std::max(minimum_blocks, lending.cap / std::max<std::int64_t>(lending.writers, 1));
}

bool may_have_more(std::int64_t holds, const LeaseTotals& lending) noexcept {
    if (holds == 0) {
        return true;  // the first block is granted even beyond the cap: no writer may hang
    }
    if (holds < minimum_blocks) {
        return lending.held < lending.cap;
    }
    const std::int64_t kept = lending.missing + lending.cap / spare_part;
    return lending.held + kept < lending.cap &&
           (holds < fair_share(lending) || !lending.others_wait);
}

bool may_be_warmed(std::int64_t holds, const LeaseTotals& lending) noexcept {
    return 2 * (lending.held + lending.missing) < lending.cap && 2 * holds < fair_share(lending);
}

ClientDemand next_demand(const ClientDemand& demand, std::int64_t used,
                         std::int64_t in_use) noexcept {
    ClientDemand next = demand;
    next.peak = std::max(next.peak, in_use);
    if (2 * used > next.ahead) {
        next.ahead = std::min(2 * next.ahead, ahead_max);
    }
    next.idle_looks = used == 0 ? next.idle_looks + 1 : 0;
    if (next.idle_looks == idle_looks_max) {
        next.idle_looks = 0;
        next.ahead = std::max(next.ahead / 2, first_ahead);
        next.peak = std::max(next.peak * 3 / 4, in_use);
    }
    return next;
}

std::int64_t ahead(const ClientDemand& demand, const LeaseTotals& lending) noexcept {
    return std::clamp<std::int64_t>(fair_share(lending) / 2, 1, demand.ahead);
}

std::int64_t touched_ahead(const ClientDemand& demand, const LeaseTotals& lending) noexcept {
    return std::min(ahead(demand, lending), touched_ahead_max);
}

std::int64_t warmed(const ClientDemand& demand, std::int64_t in_use,
                    const LeaseTotals& lending) noexcept {
    return std::max(touched_ahead(demand, lending), demand.peak - in_use);
}

std::int64_t kept(const ClientDemand& demand, std::int64_t in_use,
                  const LeaseTotals& lending) noexcept {
    return std::max(ahead(demand, lending), demand.peak - in_use);
}

}  // namespace forebay::pool
