// Where exceptions end. They come from the standard library only, in practice because there is no
// memory left. No call of the program's may be left by one.
#pragma once

#include <cerrno>
#include <mpi.h>

namespace forebay::interposer {

// Whether other ranks wait when a rank does not come to the end of a call.
enum class WaitingRanks { none, others };

// Within a handler of an exception: says what it was, as the MPI does of its own errors. `file`'s
// error handler is called and the error class returned; but where other ranks wait, which would be
// forever, the job ends. Opening and closing count as such whatever the communicator: half of it
// may have been done.
int convert_exception(MPI_File file, WaitingRanks waiting) noexcept;

// An entry point's body: an MPI error code instead of an exception, errno as before on success.
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
