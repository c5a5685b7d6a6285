// A request of what is done already: a generalised one, since only those can be made outside of an
// MPI. MPI-4.1, section 13.2.
#pragma once

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

// `bytes` were moved: what the status of the request will tell, counted in any datatype. An MPI
// error code; `request` is MPI_REQUEST_NULL where there is one.
int completed_request(std::int64_t bytes, MPI_Request* request) noexcept;

}  // namespace forebay::interposer
