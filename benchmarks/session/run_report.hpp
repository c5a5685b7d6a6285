// The part that the reports of all benchmarks share: where and when a run was, what it was expected
// to do, and how it ended.
#pragma once

#include "benchmarks/measure/budget.hpp"
#include "benchmarks/session/session.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench {

struct RunReport {
    std::vector<std::string> command;
    std::string started;
    std::string mpi;
    std::string host;
    std::int32_t ranks = 1;
    std::int32_t nodes = 1;
    measure::RunEstimate estimate;
    std::int64_t memory_bytes = 0;  // of the largest rank, beside the MPI's
    std::vector<std::string> warnings;
    ExitStatus status = ExitStatus::good;
    std::string error;
};

// Fills in what is known before anything is planned.
void begin(RunReport& report, const BenchmarkSession& session,
           const std::vector<std::string>& command);
// How it went; `data_wrong`: what was read is not what was written.
void conclude(RunReport& report, const Result<void>& done, bool data_wrong);
// On rank 0: each text to the file before it, and the run's error to standard error. The status
// that the program ends with.
ExitStatus publish(RunReport& report,
                   const std::vector<std::pair<std::string, std::string>>& texts_of_files);

}  // namespace forebay::bench
