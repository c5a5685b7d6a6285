// Fallbacks for the large-count functions of MPI-4 (MPI_File_…_c), for an MPI that has none. The
// preload stub exports these names with every MPI, so a program that probes for them finds them. A
// fallback calls the twin of the function with an int count, which MPI-2 has.
#pragma once

#include "collective/mpi/large_count_type.hpp"

#include <mpi.h>

namespace forebay::interposer {

// The fallbacks in the order of functions.toml; nullptr: the function has none.
[[nodiscard]] void* const* narrow_table() noexcept;

// Calls `older`, the twin with an int count. A larger count becomes one element of a datatype that
// consists of `count` elements.
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
