// Where descriptors of ours lie, so that a program neither meets them nor has fewer than it may
// have.
#pragma once

namespace forebay::capture {

// A double beyond what the program may have: the limit is raised for a moment, which needs a
// privilege where the soft limit is the hard one. -1: it cannot be.
int doubled_beyond_limit(int fd) noexcept;
// As above, or else where programs rarely look. -1: there is no descriptor left.
int doubled_out_of_the_way(int fd) noexcept;

}  // namespace forebay::capture
