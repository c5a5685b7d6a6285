// One record as mdtest's table, as the storm's, as JSON (schema/bench.md) and as CSV.
#pragma once

#include "benchmarks/meta/program/mdtest.hpp"
#include "benchmarks/session/run_report.hpp"

#include <string>
#include <vector>

namespace forebay::bench {

struct Report : RunReport {
    std::int64_t memory_grown_bytes = 0;  // of the rank that grew most, MPI and all
    Outcome outcome;
};

[[nodiscard]] std::string heading(const meta::Command& request, const Report& report);
[[nodiscard]] std::string tables(const meta::Command& request, const Report& report);
[[nodiscard]] std::string as_json(const meta::Command& request, const Report& report);
// A line for each row and iteration; the latencies are of all the row's calls.
[[nodiscard]] std::string as_csv(const Report& report);
// rank, operation, seconds: of the last iteration.
[[nodiscard]] std::string ranks_csv(const Report& report);

}  // namespace forebay::bench
