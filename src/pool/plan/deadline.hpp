// When the pool takes nothing more because the batch job will end: early enough for what it holds
// to be drained before, at the rate that was seen so far.
#pragma once

#include <cstdint>

namespace forebay::pool {

class Deadline {
public:
    static constexpr std::int64_t never = 0;
    // Draining may become so many times slower: all jobs write before they end.
    static constexpr std::int64_t caution = 2;

    // `end_ns`: of the job, by the same clock as below, or never. `margin_ns`: before it.
    Deadline(std::int64_t end_ns, std::int64_t margin_ns) noexcept
        : end_ns_{end_ns}, margin_ns_{margin_ns} {}

    // Whether it has passed. Bytes that are held now, and that were drained since the beginning.
    [[nodiscard]] bool passed(std::int64_t now_ns, std::int64_t held,
                              std::int64_t drained) noexcept;

private:
    std::int64_t end_ns_;
    std::int64_t margin_ns_;
    std::int64_t looked_ns_ = never;
    bool held_any_ = false;     // at the last look
    std::int64_t busy_ns_ = 0;  // while anything was held
};

}  // namespace forebay::pool
