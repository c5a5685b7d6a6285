// Decides when the pool stops taking deposits because the batch job will end: early enough to drain
// what it holds at the best rate seen so far, with a safety factor. Pure; the daemon calls it.
#pragma once

#include <cstdint>

namespace forebay::pool {

class DrainDeadline {
public:
    static constexpr std::int64_t never = 0;
    // A safety factor on the time to drain: at the end of a job draining may be slower than at its
    // best.
    static constexpr std::int64_t caution = 2;
    // A rate counts if at least `rated_bytes` were drained in `rated_least_ns` to `rated_most_ns`.
    // Fewer bytes or more time say more about the program than about the file system.
    static constexpr std::int64_t rated_bytes = std::int64_t{64} << 20;
    static constexpr std::int64_t rated_least_ns = 2'000'000'000;
    static constexpr std::int64_t rated_most_ns = 30'000'000'000;

    // `end_ns`: when the job ends, by the clock of `now_ns` below; or never. `margin_ns`: how long
    // before that everything has to be drained.
    DrainDeadline(std::int64_t end_ns, std::int64_t margin_ns) noexcept
        : end_ns_{end_ns}, margin_ns_{margin_ns} {}

    // Whether the deadline has passed. `held`: bytes to be drained now; `drained`: bytes drained
    // since the daemon started.
    [[nodiscard]] bool passed(std::int64_t now_ns, std::int64_t held,
                              std::int64_t drained) noexcept;

private:
    // Measures the rate of draining.
    void rate(std::int64_t now_ns, std::int64_t held, std::int64_t drained) noexcept;

    std::int64_t end_ns_;
    std::int64_t margin_ns_;
    // Start of the measurement: there was something to drain at each call since.
    std::int64_t begun_ns_ = never;
    std::int64_t drained_then_ = 0;  // `drained` at that time
    double byte_ns_ = 0;             // ns per byte at the best rate; 0: none is known yet
};

}  // namespace forebay::pool
