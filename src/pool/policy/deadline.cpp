// Measures the best rate of draining, and compares the time needed with the time left.
#include "pool/policy/deadline.hpp"

#include <algorithm>

namespace forebay::pool {

void DrainDeadline::rate(std::int64_t now_ns, std::int64_t held, std::int64_t drained) noexcept {
    const std::int64_t took = now_ns - begun_ns_;
    const std::int64_t bytes = drained - drained_then_;
    const bool goes_on = begun_ns_ != never && took >= 0 && took <= rated_most_ns;
    if (goes_on && held > 0 && (took < rated_least_ns || bytes < rated_bytes)) {
        return;
    }
    if (goes_on && took >= rated_least_ns && bytes >= rated_bytes) {
        const double each = static_cast<double>(took) / static_cast<double>(bytes);
        byte_ns_ = byte_ns_ == 0 ? each : std::min(byte_ns_, each);
    }
    begun_ns_ = held > 0 ? now_ns : never;
    drained_then_ = drained;
}

bool DrainDeadline::passed(std::int64_t now_ns, std::int64_t held, std::int64_t drained) noexcept {
    rate(now_ns, held, drained);
    if (end_ns_ == never) {
        return false;
    }
    const double needed = static_cast<double>(margin_ns_) +
                          byte_ns_ * static_cast<double>(held) * static_cast<double>(caution);
    return static_cast<double>(end_ns_ - now_ns) <= needed;
}

}  // namespace forebay::pool
