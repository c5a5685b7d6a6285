// Removes the files of a run whose ranks were all killed at once, as MPICH's launcher does when one
// of them dies. A small process of each node, forked before MPI is there, that knows the files'
// names and waits for the end of a pipe; it uses nothing but its name list.
#pragma once

#include "foundation/base/own_fd.hpp"

#include <ctime>
#include <string>
#include <vector>

namespace forebay::bench {

// A moment of the time of day, in which file systems say when a file was made.
[[nodiscard]] timespec moment_now() noexcept;
// Whether a file was made after the moment: by the next run, it may be, which has the same names.
// Not where the file system does not tell.
[[nodiscard]] bool is_younger(const std::string& path, const timespec& moment) noexcept;

// Removes a directory that is not younger than `ended`, with all that is in it, and tries again
// each tenth of a second while somebody puts more into it. False: something is left.
bool remove_tree(const std::string& directory, int tries_max, const timespec& ended);

class Janitor {
public:
    // One for a node: its first rank's, as the launchers' environment tells; elsewhere none. A
    // process without a launcher has one, too.
    // Call it before MPI_Init and before any thread is made.
    static Janitor of_this_node();

    // Names the files to remove should all ranks be killed; a closing '/' marks a directory.
    // Replaces the names given before.
    void watch_over(const std::vector<std::string>& names);
    // Directories to remove with all that is in them, instead, and then `empties` that are empty.
    void watch_over_trees(const std::vector<std::string>& directories,
                          const std::vector<std::string>& empties);
    // The run is over before its time: what is made from now on is another's.
    void run_ends();
    // Nothing is left that would have to go.
    void dismiss();

private:
    void send_line(const std::string& text);

    OwnFd pipe_;
};

}  // namespace forebay::bench
