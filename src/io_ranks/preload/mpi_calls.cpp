// Looks up PMPI_ functions by dlsym. In Open MPI predefined handles are addresses of objects, in
// MPICH they are constants.
#include "io_ranks/preload/mpi_calls.hpp"

#include "foundation/kernel/older_libc.hpp"

#include <cstring>

namespace forebay::io_ranks {

namespace {

template <class Function>
bool find(void* libmpi, const char* name, Function& function) noexcept {
    function = reinterpret_cast<Function>(dlsym(libmpi, name));
    return function != nullptr;
}

#if defined(OPEN_MPI)
// The program's copy of an object of the MPI's counts, if there is one (a copy relocation).
template <class Handle>
bool find_object(void* libmpi, const char* name, Handle& handle) noexcept {
    void* address = dlsym(RTLD_DEFAULT, name);
    address = address != nullptr ? address : dlsym(libmpi, name);
    handle = reinterpret_cast<Handle>(address);
    return address != nullptr;
}

bool find_objects(void* libmpi, MpiCalls& calls) noexcept {
    return find_object(libmpi, "ompi_mpi_comm_world", calls.world) &&
           find_object(libmpi, "ompi_mpi_comm_self", calls.self) &&
           find_object(libmpi, "ompi_mpi_comm_null", calls.no_comm) &&
           find_object(libmpi, "ompi_mpi_info_null", calls.no_info) &&
           find_object(libmpi, "ompi_mpi_info_env", calls.info_env) &&
           find_object(libmpi, "ompi_mpi_byte", calls.byte);
}
#else
bool find_objects(void*, MpiCalls& calls) noexcept {
    calls.world = MPI_COMM_WORLD;
    calls.self = MPI_COMM_SELF;
    calls.no_comm = MPI_COMM_NULL;
    calls.no_info = MPI_INFO_NULL;
    calls.info_env = MPI_INFO_ENV;
    calls.byte = MPI_BYTE;
    calls.fortran_world = static_cast<int>(MPI_COMM_WORLD);
    return true;
}
#endif

}  // namespace

bool find_calls(void* libmpi, MpiCalls& calls) noexcept {
    return find(libmpi, "PMPI_Get_version", calls.get_version) &&
           find(libmpi, "PMPI_Get_library_version", calls.get_library_version) &&
           find(libmpi, "PMPI_Comm_size", calls.comm_size) &&
           find(libmpi, "PMPI_Comm_rank", calls.comm_rank) &&
           find(libmpi, "PMPI_Comm_dup", calls.comm_dup) &&
           find(libmpi, "PMPI_Comm_split", calls.comm_split) &&
           find(libmpi, "PMPI_Comm_split_type", calls.comm_split_type) &&
           find(libmpi, "PMPI_Comm_free", calls.comm_free) &&
           find(libmpi, "PMPI_Comm_get_parent", calls.comm_get_parent) &&
           find(libmpi, "PMPI_Comm_get_attr", calls.comm_get_attr) &&
           find(libmpi, "PMPI_Comm_set_attr", calls.comm_set_attr) &&
           find(libmpi, "PMPI_Comm_create_keyval", calls.comm_create_keyval) &&
           find(libmpi, "PMPI_Comm_set_name", calls.comm_set_name) &&
           find(libmpi, "PMPI_Comm_set_errhandler", calls.comm_set_errhandler) &&
           find(libmpi, "PMPI_Comm_call_errhandler", calls.comm_call_errhandler) &&
           find(libmpi, "PMPI_Info_get", calls.info_get) &&
           find(libmpi, "PMPI_Info_set", calls.info_set) && find(libmpi, "PMPI_Send", calls.send) &&
           find(libmpi, "PMPI_Irecv", calls.irecv) && find(libmpi, "PMPI_Test", calls.test) &&
           find(libmpi, "PMPI_Finalize", calls.finalize) &&
           find(libmpi, "PMPI_Finalized", calls.finalized) && find_objects(libmpi, calls);
}

std::uint64_t bits_of(MPI_Comm handle) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &handle, sizeof handle);
    return bits;
}

}  // namespace forebay::io_ranks
