// Renders mdtest's summary table.
#include "benchmarks/meta/table.hpp"

#include "benchmarks/measure/statistics.hpp"

#include <cmath>
#include <fmt/format.h>

namespace forebay::meta {

namespace {

// mdtest divides by n - 1, IOR by n (40-mdtest.txt: three rates, 614.161).
double sample_deviation(const measure::SampleSummary& summary) {
    const auto count = static_cast<double>(summary.count);
    return summary.count < 2 ? 0.0 : summary.deviation * std::sqrt(count / (count - 1));
}

}  // namespace

std::string summary_table(const std::vector<OperationRates>& rows, TableUnit unit) {
    const std::size_t iterations = rows.empty() ? 0 : rows.front().values.size();
    std::string text = fmt::format(
        "SUMMARY {} (of {} iterations)\n"
        "   Operation                     Max            Min           Mean        Std Dev\n"
        "   ---------                     ---            ---           ----        -------\n",
        unit == TableUnit::seconds ? "time (in ms/op):" : "rate (in ops/sec):", iterations);
    for (const OperationRates& row : rows) {
        const auto summary = measure::summarise(row.values);
        text += fmt::format("   {:<20}{:>17.3f} {:>14.3f} {:>14.3f} {:>14.3f}\n", row.operation,
                            summary.max, summary.min, summary.mean, sample_deviation(summary));
    }
    return text;
}

}  // namespace forebay::meta
