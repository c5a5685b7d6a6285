#include "pool/plan/deadline.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

// Somebody may set the clock.
constexpr std::int64_t between_looks_ns = 10'000'000'000;

}  // namespace

bool Deadline::passed(std::int64_t now_ns, std::int64_t held, std::int64_t drained) noexcept {
    if (held_any_ && looked_ns_ != never) {
        busy_ns_ += std::clamp<std::int64_t>(now_ns - looked_ns_, 0, between_looks_ns);
    }
    looked_ns_ = now_ns;
    held_any_ = held > 0;
    if (end_ns_ == never) {
        return false;
    }
    const double each_ns =
        drained > 0 ? static_cast<double>(busy_ns_) / static_cast<double>(drained) : 0;
    const double needed = static_cast<double>(margin_ns_) +
                          each_ns * static_cast<double>(held) * static_cast<double>(caution);
    return static_cast<double>(end_ns_ - now_ns) <= needed;
}

}  // namespace forebay::pool
