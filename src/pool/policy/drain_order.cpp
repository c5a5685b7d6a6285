// The rules by which a file is drained, and the sizes of batches.
#include "pool/policy/drain_order.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

// Draining starts at 1/3 of the maximum age, since it takes time, too.
constexpr std::int64_t age_part = 3;
constexpr std::int64_t job_part = 8;  // a batch is 1/8 of the window or cap, whichever is smaller
constexpr std::int64_t job_bytes_max = std::int64_t{64} << 20;
constexpr std::int64_t small_request_bytes = std::int64_t{64} << 10;  // mean length of a run
constexpr std::int64_t worthwhile_bytes_min = std::int64_t{16} << 20;
constexpr std::int64_t worthwhile_part = 16;  // 1/16 of the window

}  // namespace

DrainReason why_to_drain(const DrainCandidate& candidate, const NodeSituation& situation) noexcept {
    if (candidate.held_back || candidate.held_bytes == 0) {
        return DrainReason::none;
    }
    if (candidate.asked) {
        return DrainReason::asked;
    }
    if (situation.now_ns < candidate.retry_ns) {
        return DrainReason::none;
    }
    if (situation.closing) {
        return DrainReason::asked;
    }
    if (situation.now_ns - candidate.oldest_ns > situation.age_max_ns / age_part) {
        return DrainReason::age;
    }
    if (situation.pressed || candidate.held_bytes >= candidate.pressing_bytes) {
        return DrainReason::pressure;
    }
    const bool quiet = situation.now_ns - candidate.written_ns >= situation.quiet_ns;
    return quiet ? DrainReason::quiet : DrainReason::none;
}

std::optional<DrainChoice> next_to_drain(std::span<const DrainCandidate> candidates,
                                         const NodeSituation& situation) noexcept {
    std::optional<DrainChoice> best;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const DrainReason why = why_to_drain(candidates[i], situation);
        if (why == DrainReason::none) {
            continue;
        }
        const bool better =
            !best || why > best->why ||
            (why == best->why && candidates[i].oldest_ns < candidates[best->candidate].oldest_ns);
        if (better) {
            best = {i, why};
        }
    }
    return best;
}

Length FifoBlock::add(const Extent& next) noexcept {
    if (left_.pieces == 0 || (end_ && next.begin != *end_)) {
        return Length{0};
    }
    const Length length{std::min(next.length.bytes(), left_.bytes)};
    left_.bytes -= length.bytes();
    --left_.pieces;
    end_ = next.begin + length;
    return length;
}

std::int64_t worthwhile_bytes(std::int64_t window_bytes) noexcept {
    return std::max(worthwhile_bytes_min, window_bytes / worthwhile_part);
}

std::int64_t job_bytes(std::int64_t window_bytes, std::int64_t cap_bytes,
                       std::int64_t request_bytes_max) noexcept {
    const std::int64_t part = std::min(window_bytes, cap_bytes) / job_part;
    return std::min(std::max(part, request_bytes_max), job_bytes_max);
}

std::int32_t shares_of(std::int64_t bytes, std::int64_t runs) noexcept {
    return bytes < runs * small_request_bytes ? 1 : shares_of_file;
}

}  // namespace forebay::pool
