// Time to live first, then heat.
#include "tier/policy/evict_order.hpp"

#include "tier/policy/heat.hpp"

#include <algorithm>

namespace forebay::tier {

namespace {

bool may_go(const EvictCandidate& one) noexcept { return one.clean && !one.open && !one.pinned; }

bool is_expired(const EvictCandidate& one, std::int64_t now_ns) noexcept {
    return one.live_ns != 0 && now_ns - one.used_ns >= one.live_ns;
}

}  // namespace

std::vector<std::size_t> to_evict(std::span<const EvictCandidate> candidates,
                                  const EvictSituation& situation) {
    std::vector<std::size_t> chosen;
    std::vector<std::size_t> others;
    std::int64_t used = situation.used_bytes;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (may_go(candidates[i])) {
            const bool expired = is_expired(candidates[i], situation.now_ns);
            (expired ? chosen : others).push_back(i);
            used -= expired ? candidates[i].bytes : 0;
        }
    }
    std::ranges::stable_sort(chosen, {}, [&](std::size_t i) { return candidates[i].used_ns; });
    if (used <= situation.high_bytes) {
        return chosen;
    }
    std::ranges::stable_sort(others, {}, [&](std::size_t i) {
        return heat_order(candidates[i].heat, candidates[i].used_ns);
    });
    for (const std::size_t i : others) {
        if (used <= situation.low_bytes) {
            break;
        }
        chosen.push_back(i);
        used -= candidates[i].bytes;
    }
    return chosen;
}

bool makes_room(std::span<const EvictCandidate> candidates, std::span<const std::size_t> chosen,
                const EvictSituation& situation) noexcept {
    std::int64_t used = situation.used_bytes;
    for (const std::size_t i : chosen) {
        used -= candidates[i].bytes;
    }
    return situation.used_bytes <= situation.high_bytes || used <= situation.low_bytes;
}

std::int64_t low_for_a_write(std::int64_t used_bytes, std::int64_t capacity_bytes,
                             std::int64_t low_bytes) noexcept {
    constexpr std::int64_t tenth = 10;
    return std::min(low_bytes, used_bytes - capacity_bytes / tenth);
}

}  // namespace forebay::tier
