// Runs mdtest's phases over its directory tree.
#pragma once

#include "benchmarks/meta/command.hpp"
#include "benchmarks/meta/program/phase.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench {

// Directories to remove if the run is ended from outside; shared with the monitor's thread.
class MadeDirectories {
public:
    // `parents` were created on the way, ancestors first; they are removed when empty.
    MadeDirectories(Janitor& janitor, std::vector<std::string> parents)
        : janitor_(janitor), parents_(std::move(parents)) {}
    void add(std::string directory);
    void forget(const std::string& directory);
    // Removes all directories with their contents, for a run that ends early.
    void remove();
    // Called at the normal end: directories that a later run creates under these names are not
    // removed.
    void end();

private:
    void remove_parents() const;
    void watch_trees() { janitor_.watch_over_trees(directories_, parents_); }

    Janitor& janitor_;  // removes the directories if all ranks are killed at once
    std::mutex mutex_;  // guards directories_
    std::vector<std::string> directories_;
    std::vector<std::string> parents_;
};

struct MdtestOutcome {
    ResultRows rows;
    std::int64_t wrong_files = 0;
    std::vector<std::string> mismatches;
};

// Collective over MPI_COMM_WORLD; the first `tasks` ranks work.
[[nodiscard]] Result<void> run_mdtest(BenchmarkSession& session, const meta::MetaCommand& request,
                                      std::int64_t tasks, MadeDirectories& made,
                                      MdtestOutcome& outcome);

// The communicator of the first `tasks` ranks; MPI_COMM_NULL on the others.
[[nodiscard]] MPI_Comm first_ranks(const BenchmarkSession& session, std::int64_t tasks);

}  // namespace forebay::bench
