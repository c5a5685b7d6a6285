// The one function that a core exports: the preload stub gives it the MPI's functions and gets
// ours, both in the order of functions.toml.
#include "entry/functions.hpp"
#include "entry/mpi/process.hpp"

extern "C" __attribute__((visibility("default"))) void* const* forebay_core_table(
    void* const* real, void* libmpi) noexcept {
    forebay::entry::start_process(real, libmpi);
    return forebay::entry::own_table();
}
