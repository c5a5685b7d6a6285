// Attributes of the world, as programs in Fortran have them: the MPIs' libraries for Fortran reach
// them past the functions that mpi.h has. tools/generate_world_calls.py gives these functions the
// names under which programs call them.
#include "io_ranks/preload/process.hpp"

namespace forebay::io_ranks {

namespace {

void correct_universe(void* value) noexcept {
    auto* slots = static_cast<int*>(value);  // or the lower half of what is twice as long
    const WorldShape& shape = process().world.shape;
    *slots -= *slots >= shape.ranks ? shape.io_ranks : 0;
}

#if defined(OPEN_MPI)
using FortranCall = void (*)(int* comm, int* key, void* value, int* found, int* error);

bool is_fortran_world(const int* comm) noexcept {
    return process().is_cut && *comm == process().mpi.fortran_world;
}

// The number by which Fortran knows the compute ranks' communicator.
int compute_number() noexcept {
    const auto number_of =
        reinterpret_cast<decltype(&PMPI_Comm_c2f)>(next_function("PMPI_Comm_c2f"));
    return number_of != nullptr ? number_of(process().world.own) : 0;
}

void get_attribute(const char* name, int* comm, int* key, void* value, int* found,
                   int* error) noexcept {
    const auto next = reinterpret_cast<FortranCall>(next_function(name));
    if (next == nullptr || !is_fortran_world(comm)) {
        return next != nullptr ? next(comm, key, value, found, error) : void();
    }
    if (*key >= MPI_TAG_UB && *key <= MPI_UNIVERSE_SIZE) {  // what the true world alone has
        next(comm, key, value, found, error);
        return *key == MPI_UNIVERSE_SIZE && *found != 0 ? correct_universe(value) : void();
    }
    int compute = compute_number();
    next(&compute, key, value, found, error);
}

void set_attribute(const char* name, int* comm, int* key, void* value, int* error) noexcept {
    using Call = void (*)(int* comm, int* key, void* value, int* error);
    const auto next = reinterpret_cast<Call>(next_function(name));
    int compute = is_fortran_world(comm) ? compute_number() : *comm;
    if (next != nullptr) {
        next(&compute, key, value, error);
    }
}
#endif

}  // namespace

extern "C" {

#if defined(OPEN_MPI)
#pragma GCC visibility push(hidden)

void forebay_fortran_attr_get(int* comm, int* key, void* value, int* found, int* error) noexcept;
void forebay_fortran_attr_put(int* comm, int* key, void* value, int* error) noexcept;
void forebay_fortran_comm_get_attr(int* comm, int* key, void* value, int* found,
                                   int* error) noexcept;
void forebay_fortran_comm_set_attr(int* comm, int* key, void* value, int* error) noexcept;

void forebay_fortran_attr_get(int* comm, int* key, void* value, int* found, int* error) noexcept {
    get_attribute("mpi_attr_get_", comm, key, value, found, error);
}

void forebay_fortran_attr_put(int* comm, int* key, void* value, int* error) noexcept {
    set_attribute("mpi_attr_put_", comm, key, value, error);
}

void forebay_fortran_comm_get_attr(int* comm, int* key, void* value, int* found,
                                   int* error) noexcept {
    get_attribute("mpi_comm_get_attr_", comm, key, value, found, error);
}

void forebay_fortran_comm_set_attr(int* comm, int* key, void* value, int* error) noexcept {
    set_attribute("mpi_comm_set_attr_", comm, key, value, error);
}

#pragma GCC visibility pop
#else
#pragma GCC visibility push(default)

// MPICH's own: `kind` says in which of C's and Fortran's ways the value is wanted.
// NOLINTNEXTLINE(readability-identifier-naming)
int MPII_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found, int kind) noexcept;

// NOLINTNEXTLINE(readability-identifier-naming)
int MPII_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found, int kind) noexcept {
    using Call = int (*)(MPI_Comm comm, int key, void* value, int* found, int kind);
    const auto next = reinterpret_cast<Call>(next_function("MPII_Comm_get_attr"));
    const ProcessState& own = process();
    const bool is_world = own.is_cut && comm == own.mpi.world;
    if (next == nullptr) {
        return MPI_ERR_OTHER;
    }
    // The true world has what the MPI says of it. Fortran's keys of that are C's plus one.
    const bool is_predefined = key >= MPI_TAG_UB && key <= MPI_APPNUM + 1;
    const int status =
        next(is_world && !is_predefined ? own.world.own : comm, key, value, found, kind);
    const bool is_universe = key == MPI_UNIVERSE_SIZE + 1;
    if (status == MPI_SUCCESS && is_world && is_universe && *found != 0) {
        correct_universe(value);
    }
    return status;
}

#pragma GCC visibility pop
#endif

}  // extern "C"

}  // namespace forebay::io_ranks
