// A histogram of latencies in bounded memory: HdrHistogram's log-linear buckets (Tene), 128 per
// power of two, so the relative error of a quantile is at most 1/128; 38,912 bytes. (Debian 12 has
// no C package of HdrHistogram.) Histograms are merged by adding counts, over ranks by MPI_SUM on
// counts().
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::measure {

class LatencyHistogram {
public:
    static constexpr int linear_bits = 7;
    static constexpr int value_bits = 44;  // 4.8 hours in nanoseconds; larger values saturate
    static constexpr std::size_t buckets = static_cast<std::size_t>(value_bits - linear_bits + 1)
                                           << linear_bits;
    static constexpr std::uint64_t value_max = (std::uint64_t{1} << value_bits) - 1;

    LatencyHistogram() : counts_(buckets, 0) {}

    // Takes a few nanoseconds. A negative value counts as 0.
    void record(std::int64_t nanoseconds) noexcept {
        const auto value =
            std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0)), value_max);
        ++counts_[bucket_of(value)];
        max_ = std::max(max_, value);
        min_ = std::min(min_, value);
        sum_ += value;
    }
    void clear() noexcept;
    void add(const LatencyHistogram& other) noexcept;

    // The parts besides the counts that are reduced over ranks: by minimum, maximum and sum.
    struct Extremes {
        std::uint64_t min = value_max;
        std::uint64_t max = 0;
        std::uint64_t sum = 0;
    };
    [[nodiscard]] std::span<const std::uint64_t> counts() const noexcept { return counts_; }
    [[nodiscard]] Extremes extremes() const noexcept { return {min_, max_, sum_}; }
    static LatencyHistogram merged(std::span<const std::uint64_t> counts, Extremes extremes);

    [[nodiscard]] std::uint64_t total() const noexcept;
    [[nodiscard]] std::int64_t min() const noexcept;  // 0 when empty
    [[nodiscard]] std::int64_t max() const noexcept { return static_cast<std::int64_t>(max_); }
    [[nodiscard]] double mean() const noexcept;  // 0 when empty
    // The smallest recorded value, in nanoseconds, such that at least `fraction` of all values are
    // at or below it; rounded up to the end of its bucket, but not above max(). 0 when empty.
    [[nodiscard]] std::int64_t quantile(double fraction) const noexcept;

    // The non-empty buckets as (highest value in ns, count), for charts.
    struct Bar {
        std::int64_t up_to = 0;
        std::uint64_t count = 0;
    };
    [[nodiscard]] std::vector<Bar> bars() const;

    [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        const int top = 63 - std::countl_zero(value | 1);
        const int shift = std::max(top - linear_bits, 0);
        return (static_cast<std::size_t>(shift) << linear_bits) +
               static_cast<std::size_t>(value >> shift);
    }
    [[nodiscard]] static constexpr std::uint64_t highest_of(std::size_t bucket) noexcept {
        constexpr std::size_t half = std::size_t{1} << linear_bits;
        const std::size_t shift = bucket < 2 * half ? 0 : bucket / half - 1;
        const std::uint64_t lowest = static_cast<std::uint64_t>(bucket - shift * half) << shift;
        return lowest + (std::uint64_t{1} << shift) - 1;
    }

private:
    std::vector<std::uint64_t> counts_;
    std::uint64_t min_ = value_max;
    std::uint64_t max_ = 0;
    std::uint64_t sum_ = 0;
};

}  // namespace forebay::measure
