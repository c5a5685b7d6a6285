// The one function that a core exports: the preload stub gives it the MPI's functions and gets
// ours, both in the order of functions.toml. `take_over` 0: only what the MPI does not have.
#include "collective/mpi/process.hpp"

extern "C" __attribute__((visibility("default"))) void* const* forebay_core_table(
    void* const* real, void* libmpi, int take_over) noexcept {
    return forebay::interposer::start_process(real, libmpi, take_over != 0);
}
