// Removes the files of a run whose ranks were all killed at once, as MPICH's launcher does when one
// of them dies. A small process of each node, forked before MPI is there, that knows the files'
// names and waits for the end of a pipe; it uses nothing but its name list.
#pragma once

#include "base/own_fd.hpp"

#include <string>
#include <vector>

namespace forebay::bench {

// Removes a directory with all that is in it, and tries again each tenth of a second while somebody
// puts more into it. False: something is left.
bool remove_tree(const std::string& directory, int tries_max);

class Janitor {
public:
    // One for a node: its first rank's, as the launchers' environment tells; elsewhere none. A
    // process without a launcher has one, too.
    // Call it before MPI_Init and before any thread is made.
    static Janitor of_this_node();

    // What to remove should all be killed; a directory is told by its closing '/'. Replaces what
    // was told before.
    void watch_over(const std::vector<std::string>& names);
    // Directories to remove with all that is in them, instead.
    void watch_over_trees(const std::vector<std::string>& directories);
    // Nothing is left that would have to go.
    void dismiss();

private:
    void tell(const std::string& text);
    void tell_all(char verb, const std::vector<std::string>& names);

    OwnFd pipe_;
};

}  // namespace forebay::bench
