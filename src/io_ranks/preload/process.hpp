// The state that this library keeps for a process: the MPI that it found, and the world that it has
// cut.
#pragma once

#include "io_ranks/preload/world.hpp"

namespace forebay::io_ranks {

struct ProcessState {
    void* libmpi = nullptr;    // null if the MPI is not of the family that this library is for
    bool is_complete = false;  // whether the MPI has all functions that this library exports
    MpiCalls mpi;
    bool is_cut = false;
    bool has_left = false;  // this compute rank has told its I/O rank
    CutWorld world;
    int universe = 0;  // MPI_UNIVERSE_SIZE as the program sees it
};

// Bound to the MPI that is loaded, at the first call.
[[nodiscard]] ProcessState& process() noexcept;

// The function of this name in the next library; null if there is none.
[[nodiscard]] void* next_function(const char* name) noexcept;

// Called when the MPI has been initialised: cuts the world, if that was asked for. I/O ranks do not
// return.
void begin_world() noexcept;

// Called before the MPI is finalised.
void end_world() noexcept;

}  // namespace forebay::io_ranks
