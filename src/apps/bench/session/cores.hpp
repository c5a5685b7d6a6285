// How many cores the ranks of a node may use: a launcher, a batch system or a user may have given
// them fewer than there are, and each of them others.
#pragma once

#include <mpi.h>

namespace forebay::bench {

// Collective over the ranks of a node.
[[nodiscard]] int cores_of(MPI_Comm node);

}  // namespace forebay::bench
