// Windows by span: the file extents that an aggregator stages in one round. Windows are aligned in
// the linear positions of its domain, so that if a window is a multiple of the stripe size, every
// full window consists of whole stripes.
#include "collective/plan/plan.hpp"

#include <algorithm>

namespace forebay::plan {

Extent Window::hull() const noexcept {
    if (extents.empty()) {
        return Extent{};
    }
    const Offset begin = extents.front().begin;
    return Extent{begin, extents.back().end() - begin};
}

void Window::clear() noexcept {
    extents.clear();
    bytes = 0;
}

void Window::add(const Extent& extent) {
    if (extent.empty()) {
        return;
    }
    if (!extents.empty() && extents.back().end() == extent.begin) {
        extents.back().length += extent.length;
    } else {
        extents.push_back(extent);
    }
    bytes += extent.length.bytes();
}

void window_by_span(const Plan& plan, AggregatorId id, std::int64_t round, Window& out) {
    out.clear();
    const Domain domain = plan.domain(id);
    const std::int64_t begin = domain.linear_at(plan.span.begin);
    const std::int64_t end = domain.linear_at(plan.span.end());
    const std::int64_t first = (begin / plan.window_bytes + round) * plan.window_bytes;
    const std::int64_t last = std::min(end, checked_add(first, plan.window_bytes));
    for (std::int64_t at = std::max(begin, first); at < last;) {
        const std::int64_t length = std::min(last - at, domain.contiguous_from(at));
        out.add(Extent{domain.offset_at(at), Length{length}});
        at += length;
    }
}

}  // namespace forebay::plan
