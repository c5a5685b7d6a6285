#include "pool/plan/credit.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

// Of the cap, kept for clients that come later.
constexpr std::int64_t spare_part = 8;

}  // namespace

std::int64_t fair_share(const Lending& lending) noexcept {
    return std::max(minimum_blocks, lending.cap / std::max<std::int64_t>(lending.writers, 1));
}

bool may_have_more(std::int64_t holds, const Lending& lending) noexcept {
    if (holds == 0) {
        return true;  // whoever holds nothing gets one, whatever the cap
    }
    if (holds < minimum_blocks) {
        return lending.held < lending.cap;
    }
    const std::int64_t kept = lending.missing + lending.cap / spare_part;
    return lending.held + kept < lending.cap &&
           (holds < fair_share(lending) || !lending.others_wait);
}

std::int64_t next_ahead(std::int64_t ahead, std::int64_t used, const Lending& lending) noexcept {
    const std::int64_t grown = 2 * used > ahead ? 2 * ahead : ahead;
    const std::int64_t most = std::clamp<std::int64_t>(fair_share(lending) / 2, 1, ahead_max);
    return std::clamp<std::int64_t>(grown, 1, most);
}

}  // namespace forebay::pool
