// The cut of the world: what it is, how it is made in MPI_Init, and how it ends.
#pragma once

#include "io_ranks/policy/roles.hpp"
#include "io_ranks/preload/mpi_calls.hpp"

namespace forebay::io_ranks {

// A world that was cut, as a rank sees it.
struct CutWorld {
    WorldShape shape;
    RankRole role;
    MPI_Comm own{};      // the ranks of this rank's kind
    MPI_Comm control{};  // all ranks, for messages between them and I/O ranks
};

// The shape that FOREBAY_IO_RANKS and FOREBAY_IO_RANKS_SPREAD ask for; `ranks` is not set.
[[nodiscard]] WorldShape asked_shape() noexcept;

// Why this world is not to be cut, before anything is agreed on; null if it can be. All ranks come
// to the same result.
[[nodiscard]] const char* obstacle(const MpiCalls& mpi, const WorldShape& shape) noexcept;

// Cuts it. Collective over the true world.
[[nodiscard]] CutWorld cut(const MpiCalls& mpi, const WorldShape& shape) noexcept;

// Whether all ranks say `mine`. Collective over the true world.
[[nodiscard]] bool all_agree(const MpiCalls& mpi, const CutWorld& world, bool mine) noexcept;

// Whether the program's own calls, from C and from Fortran, see the compute ranks only.
[[nodiscard]] bool program_sees(const MpiCalls& mpi, const CutWorld& world) noexcept;

void give_back(const MpiCalls& mpi, CutWorld& world) noexcept;

// Names, variables and predefined objects that say how large the world is.
void say_new_size(const MpiCalls& mpi, const CutWorld& world) noexcept;

// A compute rank leaves: its I/O rank is told. Not collective.
void take_leave(const MpiCalls& mpi, const CutWorld& world) noexcept;

// An I/O rank waits, without using its core, until all ranks that it serves have taken leave.
void serve(const MpiCalls& mpi, const CutWorld& world) noexcept;

}  // namespace forebay::io_ranks
