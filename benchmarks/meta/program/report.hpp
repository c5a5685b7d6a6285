// Renders a record as mdtest's table, as the storm's table, as JSON (schema/bench.md) and as CSV.
#pragma once

#include "benchmarks/meta/program/mdtest.hpp"
#include "benchmarks/session/run_report.hpp"

#include <string>
#include <vector>

namespace forebay::bench {

struct MetaReport : RunReport {
    std::int64_t memory_grown_bytes = 0;  // growth of the rank that grew most, including its MPI
    MdtestOutcome outcome;
};

[[nodiscard]] std::string heading(const meta::MetaCommand& request, const MetaReport& report);
[[nodiscard]] std::string tables(const meta::MetaCommand& request, const MetaReport& report);
[[nodiscard]] std::string as_json(const meta::MetaCommand& request, const MetaReport& report);
// One line per row and iteration; the latencies are of all calls of the row.
[[nodiscard]] std::string as_csv(const MetaReport& report);
// The columns rank, operation and seconds, for the last iteration.
[[nodiscard]] std::string ranks_csv(const MetaReport& report);

}  // namespace forebay::bench
