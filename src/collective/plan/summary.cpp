// The end points of a request come from two look-ups in its view; nothing here walks over pieces,
// so the cost does not grow with their number.
#include "collective/plan/summary.hpp"

#include <algorithm>
#include <bit>

namespace forebay::plan {

namespace {

using pattern::granularity_max;

// The largest power of two that divides `value`, but at most granularity_max.
std::int64_t power_of_two_in(std::int64_t value) noexcept {
    if (value == 0) {
        return granularity_max;
    }
    const int zeros = std::countr_zero(static_cast<std::uint64_t>(value));
    return zeros >= 30 ? granularity_max : std::int64_t{1} << zeros;
}

std::int64_t granularity_of(const pattern::View& view, const pattern::ViewRange& request) {
    if (view.contiguous()) {
        const std::int64_t begin = view.offset_of(request.position).bytes();
        return std::min(power_of_two_in(begin), power_of_two_in(request.length));
    }
    return std::min(
        {view.granularity(), power_of_two_in(request.position), power_of_two_in(request.length)});
}

}  // namespace

std::int64_t memory_piece(const pattern::RankMemory& memory,
                          const pattern::ViewRange& request) noexcept {
    const pattern::Nest* nest = memory.nest;
    const bool dense = nest == nullptr || (nest->contiguous() && nest->size() == memory.extent);
    return dense ? request.length : nest->shortest_piece();
}

Summary summarise(const pattern::View& view, const pattern::ViewRange& request,
                  std::int64_t memory_piece) {
    if (request.length == 0) {
        return Summary{};
    }
    const std::int64_t last = request.position + request.length - 1;
    Summary summary;
    summary.begin = view.offset_of(request.position).bytes();
    summary.end = view.offset_of(last).bytes() + 1;
    summary.bytes = request.length;
    summary.granularity = granularity_of(view, request);
    summary.shortest_piece = view.contiguous()
                                 ? request.length
                                 : std::min(request.length, view.filetype().shortest_piece());
    summary.unbroken = summary.bytes == summary.end - summary.begin;
    summary.long_in_memory = memory_piece >= std::min(memory_piece_min, request.length);
    return summary;
}

Summary merge(const Summary& a, const Summary& b) noexcept {
    if (a.empty() || b.empty()) {
        return a.empty() ? b : a;
    }
    return Summary{std::min(a.begin, b.begin),
                   std::max(a.end, b.end),
                   checked_add(a.bytes, b.bytes),
                   std::min(a.granularity, b.granularity),
                   std::min(a.shortest_piece, b.shortest_piece),
                   a.unbroken && b.unbroken,
                   a.long_in_memory && b.long_in_memory};
}

bool touches(const Summary& summary, const Extent& extent) noexcept {
    return !summary.empty() && !intersection(summary.span(), extent).empty();
}

}  // namespace forebay::plan
