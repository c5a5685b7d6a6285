// An MPI_Request for an operation that is complete already. It is a generalised request, the only
// kind that can be made outside of an MPI. MPI-4.1, section 13.2.
#pragma once

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

// `bytes`: the number of bytes moved that the status of the request will tell, counted in any
// datatype. Returns an MPI error code; `request` is MPI_REQUEST_NULL if it could not be made.
int completed_request(std::int64_t bytes, MPI_Request* request) noexcept;

}  // namespace forebay::interposer
