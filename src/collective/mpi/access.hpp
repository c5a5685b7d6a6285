// The functions that the generated entry points call: one for each class of functions.toml.
#pragma once

#include "collective/mpi/pass_on.hpp"

#include <cstddef>
#include <mpi.h>

namespace forebay::interposer {

// Where an access starts.
enum class AccessStart { offset, pointer, shared_pointer };

struct AccessCall {
    std::size_t function = 0;  // its number in functions.toml
    MPI_File file = MPI_FILE_NULL;
    AccessStart start = AccessStart::offset;
    MPI_Offset offset = 0;  // in etypes; only for AccessStart::offset
    void* buffer = nullptr;
    MPI_Count count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Status* status = nullptr;
};

// The second half (MPI_File_…_end) of a split collective access.
struct SplitEnd {
    std::size_t function = 0;
    MPI_File file = MPI_FILE_NULL;
    MPI_Status* status = nullptr;
};

// The additional arguments of a non-blocking collective access: the request to make, and the MPI's
// own functions.
struct StartArguments {
    MPI_Request* request = nullptr;
    PassOn pass;   // the collective one
    PassOn alone;  // the independent one
};

// An access that is left to the MPI.
struct PassedAccess {
    std::size_t function = 0;
    MPI_File file = MPI_FILE_NULL;
    AccessStart start = AccessStart::offset;
    MPI_Offset offset = 0;  // in etypes; only for AccessStart::offset
    MPI_Count count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    bool collective = false;
};

int take_write(const AccessCall& access, PassOn pass) noexcept;
int take_read(const AccessCall& access, PassOn pass) noexcept;
int take_begin_write(const AccessCall& access, PassOn pass) noexcept;
int take_begin_read(const AccessCall& access, PassOn pass) noexcept;
int take_end_write(const SplitEnd& split_end, PassOn pass) noexcept;
int take_end_read(const SplitEnd& split_end, PassOn pass) noexcept;
int take_start_write(const AccessCall& access, const StartArguments& arguments) noexcept;
int take_start_read(const AccessCall& access, const StartArguments& arguments) noexcept;
int leave(const PassedAccess& passed, PassOn pass) noexcept;

}  // namespace forebay::interposer
