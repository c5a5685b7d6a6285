// Which blocks of a file are worth fetching although nothing foretells what is read next: those of
// which the reads that went to the file system have cost as much time as fetching the block does.
// As with skis that are rented until the rent has reached their price, that costs at most twice
// what it would have if the future were known. Where blocks give way before they have been of use,
// it takes more. Values only.
#pragma once

#include "pool/protocol/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace forebay::pool {

class ScatteredReads {
public:
    constexpr ScatteredReads() noexcept = default;

    // A read at `at`, of much less than a block, took `took_ns`, since the file system was asked.
    // `fetch_ns`: what fetching a block takes, 0 as long as nobody knows. True: it is worth that.
    [[nodiscard]] bool direct(std::int64_t at, std::int64_t took_ns,
                              std::int64_t fetch_ns) noexcept;
    // A read found its bytes fetched.
    void found() noexcept;

private:
    // The cost of a block so far, in so many parts of the price. Blocks that share a place compete
    // for it: the one that is read most has it.
    static constexpr std::size_t places = 256;
    static constexpr std::int32_t parts = 16384;
    static constexpr std::int64_t unknown_price = 16;  // reads
    static constexpr std::int32_t look_reads = 4096;
    static constexpr std::int32_t reluctance_max = 64;

    void look() noexcept;

    std::array<std::uint32_t, places> block_{};
    std::array<std::uint16_t, places> cost_{};
    std::int32_t reluctance_ = 1;  // times the price
    std::int32_t reads_ = 0;       // since the last look
    std::int64_t read_ns_ = 0;     // a direct read, lately
    std::int64_t spent_ns_ = 0;
    std::int64_t saved_ns_ = 0;
};

}  // namespace forebay::pool
