// Cuts an array along one dimension: the slowest one whose slices are not too large.
#include "output/plan/chunk_grid.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::output {
namespace {

// Chunks of less than this part of what they may have are no sensible ones.
constexpr std::int64_t sensible_part = 64;

// The largest divisor of `size` that is at most `most`.
std::int64_t divisor_of(std::int64_t size, std::int64_t most) {
    std::int64_t found = std::min(size, most);
    while (size % found != 0) {
        --found;
    }
    return found;
}

}  // namespace

ChunkGrid::ChunkGrid(std::span<const std::int64_t> shape, std::int64_t chunk_max)
    : shape_(shape.begin(), shape.end()), chunk_(shape.size(), 1), elements_(1) {
    expects(!shape.empty() && chunk_max > 0, "there is something to divide");
    for (const std::int64_t size : shape) {
        expects(size > 0, "no dimension is 0");
        elements_ *= size;
    }
    // Whole slices of the dimensions behind `cut` are in a chunk.
    std::size_t cut = shape.size() - 1;
    std::int64_t slice = 1;
    while (cut > 0 && slice * shape[cut] <= chunk_max) {
        slice *= shape[cut];
        chunk_[cut] = shape[cut];
        --cut;
    }
    const std::int64_t most = std::max<std::int64_t>(1, chunk_max / slice);
    if (cut == 0) {
        const std::int64_t chunks = (shape[0] - 1) / std::min(most, shape[0]) + 1;
        chunk_[0] = (shape[0] - 1) / chunks + 1;
    } else {
        // Chunks may not be cut off where the slower dimension goes on.
        chunk_[cut] = divisor_of(shape[cut], most);
        if (chunk_[cut] * slice < chunk_max / sensible_part) {
            chunk_[cut] = shape[cut];
        }
    }
    chunk_elements_ = chunk_[cut] * slice;
}

std::int64_t ChunkGrid::chunks() const noexcept { return (elements_ - 1) / chunk_elements_ + 1; }

ElementRange ChunkGrid::range_of(std::int64_t chunk) const noexcept {
    const std::int64_t begin = chunk * chunk_elements_;
    return {begin, std::min(elements_, begin + chunk_elements_)};
}

std::vector<std::int64_t> ChunkGrid::first_of(std::int64_t chunk) const {
    std::vector<std::int64_t> index(shape_.size());
    std::int64_t left = chunk * chunk_elements_;
    for (std::size_t i = shape_.size(); i-- > 0;) {
        index[i] = left % shape_[i];
        left /= shape_[i];
    }
    return index;
}

std::vector<ChunkPiece> ChunkGrid::pieces_of(const ElementRange& range) const {
    std::vector<ChunkPiece> pieces;
    for (std::int64_t at = range.begin; at < range.end;) {
        const std::int64_t chunk = at / chunk_elements_;
        const ElementRange whole = range_of(chunk);
        const std::int64_t end = std::min(range.end, whole.end);
        pieces.push_back({chunk, at - whole.begin, {at, end}});
        at = end;
    }
    return pieces;
}

}  // namespace forebay::output
