// The arithmetic of cyclic file domains.
#include "storage/policy/domain.hpp"

#include <algorithm>
#include <limits>

namespace forebay::plan {

Domain::Domain(const FileStripes& layout, std::int32_t first_target, std::int32_t targets) {
    expects(first_target >= 0 && targets > 0 && first_target + targets <= layout.targets,
            "a domain's targets are targets of the layout");
    if (targets == layout.targets) {
        return;
    }
    start_ = checked_multiply(first_target, layout.stripe_bytes);
    run_ = checked_multiply(targets, layout.stripe_bytes);
    period_ = checked_multiply(layout.targets, layout.stripe_bytes);
}

Domain Domain::run(Offset begin, Length length) noexcept {
    Domain domain;
    domain.start_ = begin.bytes();
    domain.run_ = length.bytes();
    domain.period_ = std::numeric_limits<std::int64_t>::max() / 2;
    return domain;
}

std::int64_t Domain::linear_at(Offset offset) const noexcept {
    if (run_ == 0) {
        return offset.bytes();
    }
    const std::int64_t cycle = offset.bytes() / period_;
    const std::int64_t within = offset.bytes() % period_ - start_;
    return cycle * run_ + std::clamp<std::int64_t>(within, 0, run_);
}

Offset Domain::offset_at(std::int64_t linear) const noexcept {
    if (run_ == 0) {
        return Offset{linear};
    }
    return Offset{checked_multiply(linear / run_, period_) + start_ + linear % run_};
}

std::int64_t Domain::contiguous_from(std::int64_t linear) const noexcept {
    return run_ == 0 ? std::numeric_limits<std::int64_t>::max() : run_ - linear % run_;
}

TargetId target_at(const FileStripes& layout, Offset offset) noexcept {
    if (layout.targets == 1 || layout.stripe_bytes == 0) {
        return TargetId{0};
    }
    return TargetId{
        static_cast<std::int32_t>(offset.bytes() / layout.stripe_bytes % layout.targets)};
}

std::int64_t rest_of_stripe(const FileStripes& layout, Offset offset) noexcept {
    if (layout.stripe_bytes == 0) {
        return std::numeric_limits<std::int64_t>::max();
    }
    return layout.stripe_bytes - offset.bytes() % layout.stripe_bytes;
}

}  // namespace forebay::plan
