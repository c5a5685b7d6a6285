// Which blocks of a file are read ahead as in the block cache of 2022, where pool_consistency says
// so (docs/decisions/0020-the-papers-cache-is-a-mode.md): its algorithm 1 for reads that follow one
// another, its algorithm 2 for reads at one constant distance. No confidence, nothing nested,
// nothing backwards, and no question whether it is worth while.
#pragma once

#include "foundation/base/units.hpp"
#include "pool/client/readahead/read_ahead.hpp"

#include <cstdint>

namespace forebay::pool {

class PaperReadAhead {
public:
    static constexpr std::int64_t block = static_cast<std::int64_t>(block_bytes);

    constexpr PaperReadAhead() noexcept = default;

    // A read begins. Whole blocks to be fetched, at most `share` of them behind it.
    [[nodiscard]] PrefetchHints note(const Extent& read, std::int32_t share) noexcept;
    // The policy has asked for it: the reader waits for it.
    [[nodiscard]] bool asked(std::int64_t at) const noexcept {
        return at >= asked_.begin.bytes() && at - asked_.begin.bytes() < asked_.length.bytes();
    }

private:
    void follow(const Extent& read, std::int32_t share, PrefetchHints& wishes) noexcept;
    void stride(const Extent& read, std::int32_t share, PrefetchHints& wishes) noexcept;
    void wish(std::int64_t begin, std::int64_t end, PrefetchHints& wishes) noexcept;

    std::int64_t begin_ = 0;   // the last read
    std::int64_t end_ = -1;    // -1: there was none
    std::int64_t step_ = 0;    // between the beginnings of the last two; 0: not known
    std::int64_t known_ = -1;  // up to here it was asked for; -1: for nothing
    Extent asked_;             // the last range
};

}  // namespace forebay::pool
