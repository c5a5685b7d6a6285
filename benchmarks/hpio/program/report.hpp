// Renders a record as HPIO's table, as JSON (schema/hpio.md) and as CSV.
#pragma once

#include "benchmarks/hpio/program/run.hpp"
#include "benchmarks/session/run_report.hpp"

#include <string>
#include <vector>

namespace forebay::bench {

struct HpioReport : RunReport {
    std::vector<PointResult> points;
};

// The text above the first point.
[[nodiscard]] std::string heading(const hpio::HpioCommand& request, const HpioReport& report);
// A point's rows of HPIO's table, with a header if `before` is null or of another kind.
[[nodiscard]] std::string table_rows(const hpio::HpioCommand& request, const PointResult& result,
                                     const PointResult* before);
// Results that HPIO does not print: intervals, latencies, spreads, errors in the data.
[[nodiscard]] std::string further(const hpio::HpioCommand& request, const HpioReport& report);
[[nodiscard]] std::string as_json(const hpio::HpioCommand& request, const HpioReport& report);
[[nodiscard]] std::string as_csv(const HpioReport& report);

}  // namespace forebay::bench
