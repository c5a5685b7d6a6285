// Large-count functions (MPI-4) for an MPI that has none: the preload stub exports their names, so
// a program that probes for them finds them. They call their older twins.
#pragma once

#include "collective/mpi/large_count_type.hpp"

#include <mpi.h>

namespace forebay::interposer {

// In the order of functions.toml; nullptr: nothing stands for it.
[[nodiscard]] void* const* narrow_table() noexcept;

// Calls `older` with a count that fits an int, and a datatype that makes up for it.
template <class Older>
int narrowed(MPI_Count count, MPI_Datatype datatype, const Older& older) noexcept {
    if (count >= 0 && count > LargeCountType::count_max) {
        const LargeCountType many(count, datatype);
        return older(1, many.get());
    }
    return older(static_cast<int>(count), datatype);
}

extern "C" int forebay_narrow_get_type_extent_c(MPI_File fh, MPI_Datatype datatype,
                                                MPI_Count* extent) noexcept;

}  // namespace forebay::interposer
