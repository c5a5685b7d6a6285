// Summaries that hold for skewed, drifting measurements: medians, and the interval between two
// order statistics that covers the median whatever the distribution (binomial; e.g. Conover,
// Practical Nonparametric Statistics, 3.2). Beside them what IOR prints: mean and population SD.
#pragma once

#include <cstddef>
#include <span>

namespace forebay::measure {

struct SampleSummary {
    std::size_t count = 0;
    double min = 0.0;
    double max = 0.0;
    double mean = 0.0;
    double deviation = 0.0;  // of the population, as IOR's StdDev
};
[[nodiscard]] SampleSummary summarise(std::span<const double> values);

// Linear between the two middle values; `fraction` 0.5 is the median. 0 when empty.
[[nodiscard]] double quantile(std::span<const double> values, double fraction);
[[nodiscard]] double median(std::span<const double> values);

struct ConfidenceInterval {
    double lower = 0.0;
    double upper = 0.0;
    double coverage =
        0.0;  // probability that the median lies between; below `level` for few values
};
// The narrowest symmetric pair of order statistics that covers at least `level`; with fewer than 6
// values 95 % cannot be had, and the whole range is given with what it covers.
[[nodiscard]] ConfidenceInterval median_interval(std::span<const double> values,
                                                 double level = 0.95);

}  // namespace forebay::measure
