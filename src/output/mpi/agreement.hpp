// The agreement of all ranks of a file: no rank fails alone, and all were called with the same
// arguments.
#pragma once

#include "foundation/base/result.hpp"

#include <mpi.h>
#include <string>
#include <string_view>

namespace forebay::output {

// Collective. The error of the lowest rank that has one, on every rank; its message names that
// rank.
[[nodiscard]] Result<void> agreed(MPI_Comm comm, const Result<void>& mine);

// Collective. Fails on every rank if the text is not the same on all. `call`: the function whose
// arguments it stands for.
[[nodiscard]] Result<void> same_on_all(MPI_Comm comm, const std::string& text,
                                       std::string_view call);

// The error of an MPI call on a file; MPI_SUCCESS is none. `doing`: such as "write ocean.dat".
[[nodiscard]] Result<void> file_result(int code, std::string_view doing);

[[nodiscard]] int rank_in(MPI_Comm comm);
[[nodiscard]] int ranks_of(MPI_Comm comm);

}  // namespace forebay::output
