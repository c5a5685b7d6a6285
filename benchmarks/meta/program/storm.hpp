// Metadata storms: the latency of open, stat and close while 1, 2, 4 … P ranks do nothing else.
#pragma once

#include "benchmarks/meta/program/mdtest.hpp"

namespace forebay::bench {

// Collective over MPI_COMM_WORLD; the first `tasks` ranks work. Adds one row per operation.
[[nodiscard]] Result<void> run_storm(BenchmarkSession& session, const meta::MetaCommand& request,
                                     meta::Storm storm, std::int64_t tasks, MadeDirectories& made,
                                     MdtestOutcome& outcome);

}  // namespace forebay::bench
