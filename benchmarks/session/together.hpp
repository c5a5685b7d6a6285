// Agreement among the ranks of a communicator. No rank fails alone: an error of one rank is
// returned by all.
#pragma once

#include "benchmarks/measure/exit_status.hpp"
#include "benchmarks/measure/histogram.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <functional>
#include <mpi.h>
#include <string>
#include <vector>

namespace forebay::bench {

// All of these are collective over `ranks`.

// All ranks return the error of the lowest rank that has one; with several ranks, its message names
// that rank.
Result<void> agreed(const Result<void>& mine, MPI_Comm ranks);
[[nodiscard]] std::int64_t sum(std::int64_t mine, MPI_Comm ranks);
// Gathers the texts of all ranks on rank 0, in rank order; empty on other ranks.
[[nodiscard]] std::vector<std::string> gathered(const std::string& mine, MPI_Comm ranks);
// The sum of all histograms, on rank 0; empty on other ranks.
[[nodiscard]] measure::LatencyHistogram merged(const measure::LatencyHistogram& mine,
                                               MPI_Comm ranks);

// Not collective: calls the program and returns its exit status. If it throws, for lack of memory,
// this rank cannot continue and the others must not wait for it: the whole job is aborted, with
// `advice`.
[[nodiscard]] int exit_code(const std::function<measure::ExitStatus()>& program,
                            const std::string& advice);

}  // namespace forebay::bench
