// Error codes of MPI as errors, agreement on errors, and the end of a job that cannot go on.
#pragma once

#include "foundation/base/result.hpp"

#include <mpi.h>
#include <string_view>

namespace forebay::adapters {

// The error of an MPI call; MPI_SUCCESS is none. `doing`: such as "create a communicator".
[[nodiscard]] Result<void> mpi_result(int code, std::string_view doing);

// Collective over `own` (an all-reduce): no error if no rank has one; else an error on every rank,
// its own if the rank has one.
[[nodiscard]] Result<void> agree(MPI_Comm own, const Result<void>& mine);

// Ends the job if a collective call of the MPI has failed on this rank (`code` is not MPI_SUCCESS).
// It may have failed on no other rank: the others act on its result, and no further call can tell
// them. `doing`: as for mpi_result().
void abort_if_failed(int code, MPI_Comm own, std::string_view doing);

// Prints `message` on standard error, and ends the whole job by MPI_Abort.
[[noreturn]] void abort_job(MPI_Comm own, std::string_view message) noexcept;

}  // namespace forebay::adapters
