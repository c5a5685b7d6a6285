// The one function that a core exports. The preload stub passes the MPI's functions and gets those
// that the program's calls are to be bound to, both in the order of functions.toml. `take_over` 0:
// the MPI's own, with fallbacks for those that it does not have.
#include "collective/mpi/process.hpp"

extern "C" __attribute__((visibility("default"))) void* const* forebay_core_table(
    void* const* real, void* libmpi, int take_over) noexcept {
    return forebay::interposer::start_process(real, libmpi, take_over != 0);
}
