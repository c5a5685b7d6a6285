// Ranges that overlap or touch are merged as they are added.
#include "collective/plan/undrained.hpp"

#include <algorithm>
#include <iterator>

namespace forebay::plan {

namespace {

Extent hull(const Extent& a, const Extent& b) noexcept {
    const Offset begin = std::min(a.begin, b.begin);
    return {begin, std::max(a.end(), b.end()) - begin};
}

}  // namespace

void UndrainedRanges::add(const Extent& extent) {
    if (extent.length.bytes() == 0) {
        return;
    }
    Extent whole = extent;
    const auto first =
        std::ranges::find_if(ranges_, [&](const Extent& one) { return one.end() >= whole.begin; });
    auto last = first;
    while (last != ranges_.end() && last->begin <= extent.end()) {
        whole = hull(whole, *last++);
    }
    ranges_.insert(ranges_.erase(first, last), whole);
    if (ranges_.size() <= ranges_max) {
        return;
    }
    const auto gap_after = [](const Extent& one) { return (*(&one + 1)).begin - one.end(); };
    const auto nearest =
        std::ranges::min_element(ranges_.begin(), std::prev(ranges_.end()), {}, gap_after);
    *nearest = hull(*nearest, *std::next(nearest));
    ranges_.erase(std::next(nearest));
}

bool UndrainedRanges::touches(const Extent& extent) const noexcept {
    return extent.length.bytes() > 0 && std::ranges::any_of(ranges_, [&](const Extent& one) {
               return one.begin < extent.end() && extent.begin < one.end();
           });
}

}  // namespace forebay::plan
