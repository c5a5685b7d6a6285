// The parts that the JSON of all benchmarks has in common, as schema/bench.md spells them.
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
// Median with its interval.
[[nodiscard]] Json median_json(const std::vector<double>& values);
// A whole record: who ran it, `request`, how it went, `results`.
[[nodiscard]] Json record_json(std::string_view schema, const RunReport& report,
                               const Json& request, const Json& results);
// Indented, with a newline; bytes that are not UTF-8 must not lose the text.
[[nodiscard]] std::string dumped(const Json& json);

}  // namespace forebay::bench
