// The distributed-array constructor: the part of an n-dimensional array that one process of a
// grid holds, each dimension block, cyclic or not distributed. MPI-4.1, section 5.1.4.
#pragma once

#include "collective/mpi/datatype.hpp"
#include "collective/mpi/envelope.hpp"

namespace forebay::interposer {

// Takes the arguments of the constructor from `envelope`; `child`: the type of an element.
[[nodiscard]] pattern::Nest darray(TypeEnvelope& envelope, const DecodedType& child);

}  // namespace forebay::interposer
