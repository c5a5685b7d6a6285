// A request's pieces lie in one stripe. A run that is large enough makes a request of its own, so
// that storage need not copy a list of pieces; small runs of a stripe share one.
#include "collective/engine/cutter.hpp"

#include <algorithm>

namespace forebay::transfer {

Cutter::Cutter(const plan::Window& window, std::span<std::byte> image,
               std::optional<pattern::Coverage> coverage, const CutLimits& limits)
    : window_{&window}, image_{image}, coverage_{coverage}, limits_{limits} {}

// Loads the next run of wanted bytes, within one extent of the window, once the present one is used
// up. Returns false if there is none.
bool Cutter::load_run() {
    while (run_.length == 0) {
        if (extent_ == window_->extents.size()) {
            return false;
        }
        const Extent& extent = window_->extents[extent_];
        const std::int64_t end = extent_image_ + extent.length.bytes();
        const std::int64_t begin = covered_until(position_, end);
        if (begin == end) {
            extent_image_ = end;
            position_ = end;
            ++extent_;
            continue;
        }
        const std::int64_t length =
            !coverage_ ? end - begin : std::min(end - begin, coverage_->next_run(begin).length);
        run_ = Run{extent.begin + Length{begin - extent_image_}, begin, length};
        position_ = begin + length;
    }
    return true;
}

// The first wanted byte in [from, end), or `end` if there is none.
std::int64_t Cutter::covered_until(std::int64_t from, std::int64_t end) {
    if (!coverage_ || from == end) {
        return from;
    }
    const pattern::Coverage::Run next = coverage_->next_run(from);
    return next.length == 0 ? end : std::min(next.begin, end);
}

std::optional<TargetId> Cutter::next(std::vector<ports::Piece>& pieces) {
    pieces.clear();
    if (!load_run()) {
        return std::nullopt;
    }
    const TargetId target = plan::target_at(limits_.layout, run_.at);
    std::int64_t room = limits_.request_bytes_max;
    std::int64_t stripe = plan::rest_of_stripe(limits_.layout, run_.at);
    Offset end = run_.at;
    while (room > 0 && stripe > 0 && pieces.size() < CutLimits::pieces_max && load_run()) {
        const std::int64_t gap = (run_.at - end).bytes();
        if (gap < 0 || gap >= stripe) {
            break;
        }
        const std::int64_t length = std::min({run_.length, room, stripe - gap});
        pieces.push_back({run_.at, image_.subspan(static_cast<std::size_t>(run_.image),
                                                  static_cast<std::size_t>(length))});
        room -= length;
        stripe -= gap + length;
        run_.at += Length{length};
        run_.image += length;
        run_.length -= length;
        end = run_.at;
    }
    return target;
}

}  // namespace forebay::transfer
