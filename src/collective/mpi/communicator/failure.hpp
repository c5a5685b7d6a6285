// MPI's error codes as errors, agreement on them, and the end of a job that cannot go on.
#pragma once

#include "foundation/base/result.hpp"

#include <mpi.h>
#include <string_view>

namespace forebay::adapters {

// MPI_SUCCESS is no error. `doing`: "create a communicator".
[[nodiscard]] Result<void> mpi_result(int code, std::string_view doing);

// Collective over `own`: no error if no rank has one, else an error on every rank, its own if it
// has one.
[[nodiscard]] Result<void> agree(MPI_Comm own, const Result<void>& mine);

// Says why on standard error and ends the whole job by MPI_Abort.
[[noreturn]] void abort_job(MPI_Comm own, std::string_view message) noexcept;

}  // namespace forebay::adapters
