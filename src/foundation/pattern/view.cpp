// Maps stream positions to file offsets and back: a division finds the tile, the nest does the
// rest.
#include "foundation/pattern/view.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace forebay::pattern {

namespace {

std::int64_t lowest_bit(std::int64_t bits) noexcept {
    return std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(bits | granularity_max));
}

Error refused(const std::string& why) {
    return Error{ErrorCode::unsupported, 0,
                 fmt::format("cannot take this file view over ({}). It is passed through to the "
                             "MPI; use a filetype whose pieces ascend without overlap.",
                             why)};
}

}  // namespace

View::View() : filetype_(Nest::run(1)), granularity_(granularity_max) {}

Result<View> View::make(Offset displacement, const Nest& filetype, Length extent,
                        Length etype_size) {
    std::int64_t first = 0;
    if (filetype.size() == 0) {
        return failure(refused("its filetype has no data"));
    }
    if (displacement.bytes() < 0 || etype_size.bytes() <= 0) {
        return failure(refused("its displacement or etype size is negative"));
    }
    if (__builtin_add_overflow(displacement.bytes(), filetype.low(), &first) || first < 0) {
        return failure(refused("its filetype has data before the start of the file"));
    }
    if (!filetype.ascending()) {
        return failure(refused("its filetype's pieces do not ascend or overlap"));
    }
    if (extent.bytes() < filetype.high() - filetype.low()) {
        return failure(refused("its filetype's tiles overlap"));
    }
    View view;
    view.filetype_ = filetype;
    view.displacement_ = displacement;
    view.extent_ = extent;
    view.etype_size_ = etype_size;
    view.contiguous_ = filetype.contiguous() && filetype.size() == extent.bytes();
    view.granularity_ =
        view.contiguous_
            ? lowest_bit(first)
            : std::min(filetype.granularity(), lowest_bit(displacement.bytes() | extent.bytes()));
    return view;
}

Offset View::offset_of(std::int64_t position) const noexcept {
    expects(position >= 0, "a position in a stream is not negative");
    const std::int64_t tile = position / filetype_.size();
    const std::int64_t within = filetype_.displacement_of(position % filetype_.size());
    return displacement_ + Length{within} + extent_ * tile;
}

std::int64_t View::bytes_below(Offset offset) const noexcept {
    const std::int64_t first = displacement_.bytes() + filetype_.low();
    if (offset.bytes() <= first) {
        return 0;
    }
    const std::int64_t tile = (offset.bytes() - first) / extent_.bytes();
    const std::int64_t within = offset.bytes() - displacement_.bytes() - tile * extent_.bytes();
    return tile * filetype_.size() + filetype_.bytes_below(within);
}

Offset View::next_at(Offset offset) const noexcept { return offset_of(bytes_below(offset)); }

std::int64_t View::granularity(const ViewRange& request) const noexcept {
    if (request.length <= 0) {
        return granularity_;
    }
    const std::int64_t begin = offset_of(request.position).bytes();
    const std::int64_t end = offset_of(request.position + request.length - 1).bytes() + 1;
    return std::min(granularity_, lowest_bit(begin | end));
}

}  // namespace forebay::pattern
