// Where exceptions end: none may leave a function that the program calls. They come from the
// standard library only, in practice because there is no memory left.
#pragma once

#include <cerrno>
#include <mpi.h>

namespace forebay::interposer {

// Whether other ranks wait for this rank if it does not reach the end of a call.
enum class WaitingRanks { none, others };

// To be called within the handler of an exception. Prints what it was, and reports it as the MPI
// reports errors: calls the error handler of `file` and returns the error class. But if other ranks
// would wait forever for this one, the job ends (MPI_Abort). Opening and closing count as such with
// any communicator, because half of the work may have been done.
int convert_exception(MPI_File file, WaitingRanks waiting) noexcept;

// Runs the body of an entry point. Returns an MPI error code instead of letting an exception out;
// errno is as before on success.
template <class Body>
int guarded(MPI_File file, WaitingRanks waiting, const Body& body) noexcept {
    const int before = errno;
    try {
        const int code = body();
        if (code == MPI_SUCCESS) {
            errno = before;
        }
        return code;
    } catch (...) {
        return convert_exception(file, waiting);
    }
}

}  // namespace forebay::interposer
