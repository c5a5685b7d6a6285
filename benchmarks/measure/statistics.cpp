// Quantiles, and the binomial confidence interval of the median.
#include "benchmarks/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace forebay::measure {

namespace {

std::vector<double> sorted(std::span<const double> values) {
    std::vector<double> copy(values.begin(), values.end());
    std::sort(copy.begin(), copy.end());
    return copy;
}

}  // namespace

SampleSummary summarise(std::span<const double> values) {
    if (values.empty()) {
        return {};
    }
    SampleSummary made{values.size(), values[0], values[0], 0.0, 0.0};
    double sum = 0.0;
    for (const double value : values) {
        made.min = std::min(made.min, value);
        made.max = std::max(made.max, value);
        sum += value;
    }
    made.mean = sum / static_cast<double>(values.size());
    double squares = 0.0;
    for (const double value : values) {
        squares += (value - made.mean) * (value - made.mean);
    }
    made.deviation = std::sqrt(squares / static_cast<double>(values.size()));
    return made;
}

double quantile(std::span<const double> values, double fraction) {
    if (values.empty()) {
        return 0.0;
    }
    const std::vector<double> in_order = sorted(values);
    const double at = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(in_order.size() - 1);
    const auto low = static_cast<std::size_t>(std::floor(at));
    const std::size_t high = std::min(low + 1, in_order.size() - 1);
    const double part = at - static_cast<double>(low);
    return in_order[low] + part * (in_order[high] - in_order[low]);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

ConfidenceInterval median_interval(std::span<const double> values, double level) {
    if (values.empty()) {
        return {};
    }
    const std::vector<double> in_order = sorted(values);
    const std::size_t count = in_order.size();
    // Sums P(at most k of `count` values are below the median) until half of 1 - level is used.
    // Uses logarithms, because 0.5^count underflows for more than a thousand values.
    double logarithm = -std::log(2.0) * static_cast<double>(count);
    double below = std::exp(logarithm);
    std::size_t skipped = 0;
    double coverage = 1.0 - 2.0 * below;
    while (skipped + 1 < (count + 1) / 2) {
        logarithm += std::log(static_cast<double>(count - skipped)) -
                     std::log(static_cast<double>(skipped + 1));
        const double probability = std::exp(logarithm);
        if (1.0 - 2.0 * (below + probability) < level) {
            break;
        }
        below += probability;
        ++skipped;
        coverage = 1.0 - 2.0 * below;
    }
    return {in_order[skipped], in_order[count - 1 - skipped], std::max(coverage, 0.0)};
}

}  // namespace forebay::measure
