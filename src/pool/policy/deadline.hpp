// When the pool takes nothing more because the batch job will end: early enough for what it holds
// to be drained before, at the best rate that was seen so far.
#pragma once

#include <cstdint>

namespace forebay::pool {

class DrainDeadline {
public:
    static constexpr std::int64_t never = 0;
    // Draining may become so many times slower: all jobs write before they end.
    static constexpr std::int64_t caution = 2;
    // A rate is that of so many bytes in so long a time; what is less, or takes longer, says more
    // of the program than of the file system.
    static constexpr std::int64_t rated_bytes = std::int64_t{64} << 20;
    static constexpr std::int64_t rated_least_ns = 2'000'000'000;
    static constexpr std::int64_t rated_most_ns = 30'000'000'000;

    // `end_ns`: of the job, by the same clock as below, or never. `margin_ns`: before it.
    DrainDeadline(std::int64_t end_ns, std::int64_t margin_ns) noexcept
        : end_ns_{end_ns}, margin_ns_{margin_ns} {}

    // Whether it has passed. Bytes that are held now, and that were drained since the beginning.
    [[nodiscard]] bool passed(std::int64_t now_ns, std::int64_t held,
                              std::int64_t drained) noexcept;

private:
    void rate(std::int64_t now_ns, std::int64_t held, std::int64_t drained) noexcept;

    std::int64_t end_ns_;
    std::int64_t margin_ns_;
    std::int64_t begun_ns_ = never;  // since then there was something to drain at every look
    std::int64_t drained_then_ = 0;
    double byte_ns_ = 0;  // at the best rate; 0: none was seen
};

}  // namespace forebay::pool
