// Decides which blocks of a file are worth fetching although reads follow no pattern: those whose
// reads from the file system have taken as long as fetching the block would (ski rental). That
// costs at most twice as much as with knowledge of the future, as long as blocks are not replaced
// before they have been of use. Pure.
#pragma once

#include "pool/protocol/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace forebay::pool {

class ScatteredReads {
public:
    constexpr ScatteredReads() noexcept = default;

    // Notes a read at `at`, much smaller than a block, that the file system answered in `took_ns`.
    // `fetch_ns` is the time to fetch a block; 0 while unknown. Returns whether to fetch the block.
    [[nodiscard]] bool direct(std::int64_t at, std::int64_t took_ns,
                              std::int64_t fetch_ns) noexcept;
    // Notes that a read found its bytes in a fetched block.
    void found() noexcept;

private:
    // Time spent on a block, in units of 1/16384 of the price. Blocks that share a place compete
    // for it: the one read most often keeps it.
    static constexpr std::size_t places = 256;
    static constexpr std::int32_t parts = 16384;
    static constexpr std::int64_t unknown_price = 16;  // price while fetch_ns is unknown, in reads
    // Direct and saved reads after which the price is adjusted.
    static constexpr std::int32_t look_reads = 4096;
    static constexpr std::int32_t reluctance_max = 64;

    // Doubles the price while fetching has cost more than it saved, and halves it otherwise.
    void look() noexcept;

    std::array<std::uint32_t, places> block_{};  // number of the block in this place
    std::array<std::uint16_t, places> cost_{};   // of that block
    std::int32_t reluctance_ = 1;                // factor on the price
    std::int32_t reads_ = 0;                     // since the last look()
    std::int64_t read_ns_ = 0;                   // moving average of a direct read's time
    std::int64_t spent_ns_ = 0;
    std::int64_t saved_ns_ = 0;  // fetching cost so far; halved at each look()
};

}  // namespace forebay::pool
