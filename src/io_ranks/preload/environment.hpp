// The variables of launchers that say how many ranks there are, and which one this is.
#pragma once

namespace forebay::io_ranks {

struct RankPlacement {
    int size = 1;
    int rank = 0;
    int local_size = 1;  // of the ranks on this node
    int local_rank = 0;
};

// Changes those variables that are set, for the program and for what it starts.
void rewrite_environment(const RankPlacement& now) noexcept;

// The number in a variable, `otherwise` if it has none. At most nine digits.
[[nodiscard]] int number_in(const char* variable, int otherwise) noexcept;

}  // namespace forebay::io_ranks
