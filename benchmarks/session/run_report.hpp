// The part that the reports of all benchmarks share: where and when a run took place, its estimate,
// and its outcome.
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
    std::int64_t memory_bytes = 0;  // on the rank with most; without the MPI's own
    std::vector<std::string> warnings;
    ExitStatus status = ExitStatus::good;
    std::string error;
};

// Fills in what is known before the run is planned.
void begin(RunReport& report, const BenchmarkSession& session,
           const std::vector<std::string>& command);
// Fills in the outcome; `data_wrong`: the data read is not the data written.
void conclude(RunReport& report, const Result<void>& done, bool data_wrong);
// On rank 0: writes each text to the file paired with it, and the run's error to standard error.
// Returns the program's exit status.
ExitStatus publish(RunReport& report,
                   const std::vector<std::pair<std::string, std::string>>& texts_of_files);

}  // namespace forebay::bench
