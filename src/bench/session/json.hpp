// The parts that the JSON of all benchmarks has in common, as schema/bench.md spells them.
#pragma once

#include "bench/session/session.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace forebay::bench {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json latency_json(const measure::Histogram& latency);
[[nodiscard]] Json spread_json(const Spread& spread);
// Median with its interval.
[[nodiscard]] Json median_json(const std::vector<double>& values);
// Indented, with a newline; bytes that are not UTF-8 must not lose the text.
[[nodiscard]] std::string dumped(const Json& json);

}  // namespace forebay::bench
