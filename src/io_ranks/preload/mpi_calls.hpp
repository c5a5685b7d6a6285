// The MPI's own functions and predefined objects, found at run time: the library is preloaded into
// programs that load their MPI later, or none, so that it may refer to no symbol of an MPI.
#pragma once

#include <cstdint>
#include <mpi.h>

namespace forebay::io_ranks {

// The functions of the MPI library itself: calls of Forebay's own meet no communicator of the
// program's, and no tool that is preloaded.
struct MpiCalls {
    decltype(&PMPI_Get_version) get_version = nullptr;
    decltype(&PMPI_Get_library_version) get_library_version = nullptr;
    decltype(&PMPI_Comm_size) comm_size = nullptr;
    decltype(&PMPI_Comm_rank) comm_rank = nullptr;
    decltype(&PMPI_Comm_dup) comm_dup = nullptr;
    decltype(&PMPI_Comm_split) comm_split = nullptr;
    decltype(&PMPI_Comm_split_type) comm_split_type = nullptr;
    decltype(&PMPI_Comm_free) comm_free = nullptr;
    decltype(&PMPI_Comm_get_parent) comm_get_parent = nullptr;
    decltype(&PMPI_Comm_get_attr) comm_get_attr = nullptr;
    decltype(&PMPI_Comm_set_attr) comm_set_attr = nullptr;
    decltype(&PMPI_Comm_create_keyval) comm_create_keyval = nullptr;
    decltype(&PMPI_Comm_set_name) comm_set_name = nullptr;
    decltype(&PMPI_Comm_set_errhandler) comm_set_errhandler = nullptr;
    decltype(&PMPI_Comm_call_errhandler) comm_call_errhandler = nullptr;
    decltype(&PMPI_Info_get) info_get = nullptr;
    decltype(&PMPI_Info_set) info_set = nullptr;
    decltype(&PMPI_Send) send = nullptr;
    decltype(&PMPI_Irecv) irecv = nullptr;
    decltype(&PMPI_Test) test = nullptr;
    decltype(&PMPI_Finalize) finalize = nullptr;
    decltype(&PMPI_Finalized) finalized = nullptr;

    MPI_Comm world{};
    MPI_Comm self{};
    MPI_Comm no_comm{};
    MPI_Info no_info{};
    MPI_Info info_env{};
    MPI_Datatype byte{};
    int fortran_world = 0;
};

// From the MPI library of this handle of dlopen. False if it lacks something.
[[nodiscard]] bool find_calls(void* libmpi, MpiCalls& calls) noexcept;

// A handle as it is in a register: MPICH's are 32-bit numbers, others' are addresses.
[[nodiscard]] std::uint64_t bits_of(MPI_Comm handle) noexcept;

inline constexpr std::uint64_t handle_mask =
    sizeof(MPI_Comm) == sizeof(std::uint32_t) ? UINT64_C(0xffffffff) : ~UINT64_C(0);

}  // namespace forebay::io_ranks
