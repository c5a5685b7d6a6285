// Algorithms 1 and 2 of He et al. (2022), in whole blocks.
#include "pool/client/readahead/paper_read_ahead.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

constexpr std::int64_t block = PaperReadAhead::block;

std::int64_t down(std::int64_t at) noexcept { return at / block * block; }
std::int64_t up(std::int64_t at) noexcept { return down(saturated_sum(at, block - 1)); }

}  // namespace

PrefetchHints PaperReadAhead::note(const Extent& read, std::int32_t share) noexcept {
    PrefetchHints wishes;
    if (read.empty()) {
        return wishes;
    }
    const std::int64_t begin = read.begin.bytes();
    const std::int64_t step = end_ < 0 ? 0 : begin - begin_;
    const bool follows = begin == end_;
    const bool strides = !follows && step > 0 && step == step_;
    if (!follows && !strides) {
        known_ = -1;
        asked_ = {};
    } else if (share > 0 && (follows || step <= block)) {
        follow(read, share, wishes);
    } else if (share > 0) {
        stride(read, share, wishes);
    }
    begin_ = begin;
    end_ = read.end().bytes();
    step_ = step;
    return wishes;
}

// Algorithm 1: the blocks after the read, from the one in which it ends.
void PaperReadAhead::follow(const Extent& read, std::int32_t share,
                            PrefetchHints& wishes) noexcept {
    const std::int64_t from = down(read.end().bytes());
    wish(std::max(known_, from), saturated_sum(from, share * block), wishes);
}

// Algorithm 2: the blocks of the next reads, as many as `share` allows.
void PaperReadAhead::stride(const Extent& read, std::int32_t share,
                            PrefetchHints& wishes) noexcept {
    const std::int64_t length = read.length.bytes();
    const std::int64_t step = read.begin.bytes() - begin_;
    const std::int64_t reads = share / (length / block + 2);  // whatever their alignment
    std::int64_t at = read.begin.bytes();
    for (std::int64_t i = 0; i < std::max<std::int64_t>(reads, 1); ++i) {
        at = saturated_sum(at, step);
        const std::int64_t end = saturated_sum(at, length);
        if (end == INT64_MAX || wishes.count == PrefetchHints::most) {
            return;
        }
        if (end > known_) {
            wish(std::max(known_, down(at)), up(end), wishes);
        }
    }
}

void PaperReadAhead::wish(std::int64_t begin, std::int64_t end, PrefetchHints& wishes) noexcept {
    if (begin >= end) {
        return;
    }
    const std::int64_t first = asked_.empty() ? begin : asked_.begin.bytes();
    wishes.ranges[wishes.count++] = {Offset{begin}, Length{end - begin}};
    asked_ = {Offset{first}, Length{end - first}};
    known_ = end;
}

}  // namespace forebay::pool
