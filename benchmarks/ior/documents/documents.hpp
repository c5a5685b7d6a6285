// Encodes the record as JSON (schema forebay.bench.ior/1: IOR's keys together with ours, which end
// in their unit; numbers in full precision, strings escaped) and as CSV (IOR's columns, then ours).
#pragma once

#include "benchmarks/ior/results.hpp"

#include <string>

namespace forebay::ior {

[[nodiscard]] std::string json_document(const RunResult& run);
[[nodiscard]] std::string csv_document(const RunResult& run);
// IOR's saveRankPerformanceDetailsCSV: one line per rank and phase, in bytes and seconds.
[[nodiscard]] std::string rank_lines(const PhaseResult& phase, std::int64_t test);
[[nodiscard]] std::string rank_head();

}  // namespace forebay::ior
