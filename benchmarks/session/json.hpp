// The parts of JSON documents that all benchmarks share, as in schema/bench.md.
#pragma once

#include "benchmarks/session/run_report.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::bench {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json latency_json(const measure::LatencyHistogram& latency);
[[nodiscard]] Json spread_json(const RankSpread& spread);
// The median with its confidence interval.
[[nodiscard]] Json median_json(const std::vector<double>& values);
// A whole record: the run's circumstances, `request`, outcome and `results`.
[[nodiscard]] Json record_json(std::string_view schema, const RunReport& report,
                               const Json& request, const Json& results);
// Indented, with a trailing newline; bytes that are not UTF-8 are replaced rather than losing the
// text.
[[nodiscard]] std::string dumped(const Json& json);

}  // namespace forebay::bench
