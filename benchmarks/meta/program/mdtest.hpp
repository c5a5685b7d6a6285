// mdtest's phases over its tree.
#pragma once

#include "benchmarks/meta/command.hpp"
#include "benchmarks/meta/program/phase.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench {

// Directories that a run has made and would leave if it were ended; shared with the monitor.
class MadeDirectories {
public:
    // `parents`: made on the way, the lowest first; they go when they are empty.
    MadeDirectories(Janitor& janitor, std::vector<std::string> parents)
        : janitor_(janitor), parents_(std::move(parents)) {}
    void add(std::string directory);
    void forget(const std::string& directory);
    // Removes all with all that is in them. For a run that ends early.
    void remove();
    // The run is over: nothing that the next one makes under these names is this one's.
    void end();

private:
    void remove_parents() const;
    void watch_trees() { janitor_.watch_over_trees(directories_, parents_); }

    Janitor& janitor_;  // of what all ranks leave that are killed at once
    std::mutex mutex_;  // guards directories_
    std::vector<std::string> directories_;
    std::vector<std::string> parents_;
};

struct MdtestOutcome {
    ResultRows rows;
    std::int64_t wrong_files = 0;
    std::vector<std::string> mismatches;
};

// Collective over the world; `tasks` of its ranks work.
[[nodiscard]] Result<void> run_mdtest(BenchmarkSession& session, const meta::MetaCommand& request,
                                      std::int64_t tasks, MadeDirectories& made,
                                      MdtestOutcome& outcome);

// The communicator of the first `tasks` ranks; MPI_COMM_NULL on the others.
[[nodiscard]] MPI_Comm first_ranks(const BenchmarkSession& session, std::int64_t tasks);

}  // namespace forebay::bench
