// The ski rental of scattered reads: a few operations for each read of the file system.
#include "pool/client/readahead/scattered_reads.hpp"

#include <algorithm>

namespace forebay::pool {

bool ScatteredReads::direct(std::int64_t at, std::int64_t took_ns, std::int64_t fetch_ns) noexcept {
    read_ns_ = read_ns_ == 0 ? took_ns : (3 * read_ns_ + took_ns) / 4;
    const std::int64_t price = (fetch_ns > 0 ? fetch_ns : unknown_price * took_ns) * reluctance_;
    // In a very large file block numbers wrap, and two blocks may be taken for one.
    const auto block = static_cast<std::uint32_t>(at / static_cast<std::int64_t>(block_bytes));
    const auto place = block % places;
    // A single read pays at most half of the price, since it says nothing of further reads.
    const std::int64_t more =
        std::clamp<std::int64_t>(took_ns * parts / std::max<std::int64_t>(price, 1), 1, parts / 2);
    std::int64_t sum = cost_[place] + (block == block_[place] ? more : -more);
    if (sum < 0) {
        block_[place] = block;
        sum = more;
    }
    const bool worth = sum >= parts;
    cost_[place] = worth ? 0 : static_cast<std::uint16_t>(sum);
    spent_ns_ += worth ? price / reluctance_ : 0;
    look();
    return worth;
}

void ScatteredReads::found() noexcept {
    saved_ns_ += spent_ns_ > 0 ? read_ns_ : 0;
    look();
}

void ScatteredReads::look() noexcept {
    if (spent_ns_ == 0 || ++reads_ < look_reads) {
        return;
    }
    reads_ = 0;
    reluctance_ = saved_ns_ < spent_ns_ ? std::min(2 * reluctance_, reluctance_max)
                                        : std::max(reluctance_ / 2, 1);
    spent_ns_ /= 2;
    saved_ns_ /= 2;
}

}  // namespace forebay::pool
