// The rules by which a file is moved.
#include "tier/policy/move_order.hpp"

#include <algorithm>
#include <limits>

namespace forebay::tier {

namespace {

bool is_triggered(const MoveCandidate& candidate, std::int64_t now_ns) noexcept {
    switch (candidate.trigger) {
        case MoveTrigger::at_close: return !candidate.open;
        case MoveTrigger::at_idle: return now_ns - candidate.written_ns >= candidate.idle_ns;
        case MoveTrigger::at_size: return candidate.bytes >= candidate.size_bytes;
        case MoveTrigger::at_job_end:
        case MoveTrigger::manual: return false;
    }
    return false;
}

bool goes_before(const MoveCandidate& a, const MoveCandidate& b, MoveReason why) noexcept {
    if (why == MoveReason::pressure && a.bytes != b.bytes) {
        return a.bytes > b.bytes;
    }
    return a.dirtied_ns < b.dirtied_ns;
}

}  // namespace

MoveReason why_to_move(const MoveCandidate& candidate, const MoveSituation& situation) noexcept {
    if (candidate.under_way) {
        return MoveReason::none;
    }
    if (candidate.asked) {
        return MoveReason::asked;
    }
    if (situation.now_ns < candidate.retry_ns) {
        return MoveReason::none;
    }
    const bool manual = candidate.trigger == MoveTrigger::manual;
    if (situation.job_ends && !manual) {
        return MoveReason::job_end;
    }
    if (situation.age_max_ns != 0 && !manual &&
        situation.now_ns - candidate.dirtied_ns >= situation.age_max_ns) {
        return MoveReason::age;
    }
    if (situation.pressed) {
        return MoveReason::pressure;
    }
    return is_triggered(candidate, situation.now_ns) ? MoveReason::trigger : MoveReason::none;
}

std::optional<MoveChoice> next_to_move(std::span<const MoveCandidate> candidates,
                                       const MoveSituation& situation) noexcept {
    std::optional<MoveChoice> best;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const MoveReason why = why_to_move(candidates[i], situation);
        if (why == MoveReason::none) {
            continue;
        }
        if (!best || why > best->why ||
            (why == best->why && goes_before(candidates[i], candidates[best->candidate], why))) {
            best = {i, why};
        }
    }
    return best;
}

void MoveDeadline::record_move(std::int64_t bytes, std::int64_t took_ns) noexcept {
    if (bytes < rated_bytes || took_ns <= 0) {
        return;
    }
    byte_ns_[count_ % rates_max] = static_cast<double>(took_ns) / static_cast<double>(bytes);
    ++count_;
}

std::int64_t MoveDeadline::latest_begin_ns(std::int64_t waiting) const noexcept {
    if (end_ns_ == never) {
        return std::numeric_limits<std::int64_t>::max();
    }
    const auto known = byte_ns_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, rates_max));
    const double slowest =
        count_ == 0 ? assumed_byte_ns : *std::max_element(byte_ns_.begin(), known);
    const double needed = slowest * static_cast<double>(waiting);
    // A time that is out of range is before every `now`.
    constexpr double most = 4e18;
    return needed >= most ? std::numeric_limits<std::int64_t>::min()
                          : end_ns_ - margin_ns_ - static_cast<std::int64_t>(needed);
}

}  // namespace forebay::tier
