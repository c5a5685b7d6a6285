// Merges histograms and computes quantiles.
#include "benchmarks/measure/histogram.hpp"

#include "foundation/base/contracts.hpp"

#include <cmath>
#include <numeric>

namespace forebay::measure {

void LatencyHistogram::clear() noexcept {
    std::fill(counts_.begin(), counts_.end(), 0);
    min_ = value_max;
    max_ = 0;
    sum_ = 0;
}

void LatencyHistogram::add(const LatencyHistogram& other) noexcept {
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        counts_[bucket] += other.counts_[bucket];
    }
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
}

LatencyHistogram LatencyHistogram::merged(std::span<const std::uint64_t> counts,
                                          Extremes extremes) {
    expects(counts.size() == buckets, "counts have one entry for each bucket");
    LatencyHistogram made;
    std::copy(counts.begin(), counts.end(), made.counts_.begin());
    made.min_ = extremes.min;
    made.max_ = extremes.max;
    made.sum_ = extremes.sum;
    return made;
}

std::uint64_t LatencyHistogram::total() const noexcept {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::int64_t LatencyHistogram::min() const noexcept {
    return total() == 0 ? 0 : static_cast<std::int64_t>(min_);
}

double LatencyHistogram::mean() const noexcept {
    const std::uint64_t all = total();
    return all == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(all);
}

std::int64_t LatencyHistogram::quantile(double fraction) const noexcept {
    const std::uint64_t all = total();
    if (all == 0) {
        return 0;
    }
    const double wanted = std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(all));
    const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, all);
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        below += counts_[bucket];
        if (below >= rank) {
            return static_cast<std::int64_t>(std::clamp(highest_of(bucket), min_, max_));
        }
    }
    return max();
}

std::vector<LatencyHistogram::Bar> LatencyHistogram::bars() const {
    std::vector<Bar> all;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        if (counts_[bucket] > 0) {
            const std::uint64_t up_to = std::min(highest_of(bucket), max_);
            all.push_back({static_cast<std::int64_t>(up_to), counts_[bucket]});
        }
    }
    return all;
}

}  // namespace forebay::measure
