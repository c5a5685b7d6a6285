// Read-ahead as in the block cache of He et al. (2022), used in the mode `paper` of
// pool_consistency (docs/decisions/0020-the-papers-cache-is-a-mode.md): algorithm 1 for consecutive
// reads, algorithm 2 for reads at one constant stride. There is no confidence, no nested or
// backward pattern, and no test whether fetching is worthwhile. Pure.
#pragma once

#include "foundation/base/units.hpp"
#include "pool/client/readahead/read_ahead.hpp"

#include <cstdint>

namespace forebay::pool {

class PaperReadAhead {
public:
    static constexpr std::int64_t block = static_cast<std::int64_t>(block_bytes);

    constexpr PaperReadAhead() noexcept = default;

    // To be called when a read begins. Returns whole blocks to fetch, at most `share` of them
    // beyond the read.
    [[nodiscard]] PrefetchHints note(const Extent& read, std::int32_t share) noexcept;
    // Whether the byte was asked for, so that a reader should wait for it.
    [[nodiscard]] bool asked(std::int64_t at) const noexcept {
        return at >= asked_.begin.bytes() && at - asked_.begin.bytes() < asked_.length.bytes();
    }

private:
    void follow(const Extent& read, std::int32_t share, PrefetchHints& wishes) noexcept;
    void stride(const Extent& read, std::int32_t share, PrefetchHints& wishes) noexcept;
    void wish(std::int64_t begin, std::int64_t end, PrefetchHints& wishes) noexcept;

    std::int64_t begin_ = 0;   // of the last read
    std::int64_t end_ = -1;    // of the last read; -1: there was none
    std::int64_t step_ = 0;    // distance between the last two reads' offsets; 0: not known
    std::int64_t known_ = -1;  // blocks up to here were asked for; -1: none
    Extent asked_;             // the range asked for, contiguous
};

}  // namespace forebay::pool
