// The steps by which the ranks of a communicator come to know the same. No rank fails alone: what
// one of them says went wrong, all return.
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

// The error of the lowest rank that has one, on all of them; where there are several ranks its
// message names that one.
Result<void> agreed(const Result<void>& mine, MPI_Comm ranks);
[[nodiscard]] std::int64_t sum(std::int64_t mine, MPI_Comm ranks);
// On rank 0 what every rank gave, in their order; elsewhere empty.
[[nodiscard]] std::vector<std::string> gathered(const std::string& mine, MPI_Comm ranks);
// The histograms of all ranks added up, on rank 0; elsewhere empty.
[[nodiscard]] measure::LatencyHistogram merged(const measure::LatencyHistogram& mine,
                                               MPI_Comm ranks);

// Not collective: what a rank's program returns. Should it throw, for want of memory, this rank
// alone cannot go on and the others must not wait for it: all are ended, with `advice`.
[[nodiscard]] int exit_code(const std::function<measure::ExitStatus()>& program,
                            const std::string& advice);

}  // namespace forebay::bench
