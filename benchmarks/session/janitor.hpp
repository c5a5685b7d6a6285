// Removes the files of a run whose ranks were all killed at once, as MPICH's launcher does when one
// rank dies. The janitor is a small process per node, forked before MPI_Init, which knows the
// files' names and waits for the end of a pipe from its rank.
#pragma once

#include "foundation/base/own_fd.hpp"

#include <ctime>
#include <string>
#include <vector>

namespace forebay::bench {

// The time of day, by which file systems record when a file was created.
[[nodiscard]] timespec moment_now() noexcept;
// Whether a file was created after `moment`, and so perhaps by the next run, which uses the same
// names. False if the file system does not tell.
[[nodiscard]] bool is_younger(const std::string& path, const timespec& moment) noexcept;

// Removes a directory with its contents, unless it is younger than `ended`. Retries every 0.1 s
// while other processes still add files. False: something is left.
bool remove_tree(const std::string& directory, int tries_max, const timespec& ended);

class Janitor {
public:
    // Starts the janitor of this node on its first local rank, as the launcher's environment tells,
    // or in a process without a launcher; on other ranks it does nothing. To be called before
    // MPI_Init and before any thread is created.
    static Janitor of_this_node();

    // Sets the files to remove if all ranks are killed, replacing earlier ones; a trailing '/'
    // marks a directory.
    void watch_over(const std::vector<std::string>& names);
    // Sets directories to remove with their contents, and `empties` to remove after that if empty.
    void watch_over_trees(const std::vector<std::string>& directories,
                          const std::vector<std::string>& empties);
    // The run is being ended early: files created from now on belong to another run.
    void run_ends();
    // Nothing has to be removed any more.
    void dismiss();

private:
    void send_line(const std::string& text);

    OwnFd pipe_;
};

}  // namespace forebay::bench
