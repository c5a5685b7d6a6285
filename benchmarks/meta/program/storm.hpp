// Storms: how long open, stat and close take while 1, 2, 4 … P ranks do nothing else.
#pragma once

#include "benchmarks/meta/program/mdtest.hpp"

namespace forebay::bench {

// Collective over the world; `tasks` of its ranks work. Per operation one row.
[[nodiscard]] Result<void> run_storm(BenchmarkSession& session, const meta::MetaCommand& request,
                                     meta::Storm storm, std::int64_t tasks, MadeDirectories& made,
                                     MdtestOutcome& outcome);

}  // namespace forebay::bench
