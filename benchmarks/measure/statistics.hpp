// Summaries for skewed, drifting measurements: the median, and its distribution-free confidence
// interval between two order statistics (binomial; e.g. Conover, Practical Nonparametric
// Statistics, 3.2). Also the mean and population standard deviation that IOR prints.
#pragma once

#include <cstddef>
#include <span>

namespace forebay::measure {

struct SampleSummary {
    std::size_t count = 0;
    double min = 0.0;
    double max = 0.0;
    double mean = 0.0;
    double deviation = 0.0;  // standard deviation of the population, as IOR's StdDev
};
[[nodiscard]] SampleSummary summarise(std::span<const double> values);

// Linear interpolation between adjacent order statistics; `fraction` 0.5 is the median. 0 when
// empty.
[[nodiscard]] double quantile(std::span<const double> values, double fraction);
[[nodiscard]] double median(std::span<const double> values);

struct ConfidenceInterval {
    double lower = 0.0;
    double upper = 0.0;
    // Probability that the median is in between; below `level` if there are few values.
    double coverage = 0.0;
};
// The narrowest symmetric pair of order statistics that covers the median with probability `level`.
// Fewer than 6 values cannot reach 95 %; the result is then their range, with its coverage.
[[nodiscard]] ConfidenceInterval median_interval(std::span<const double> values,
                                                 double level = 0.95);

}  // namespace forebay::measure
