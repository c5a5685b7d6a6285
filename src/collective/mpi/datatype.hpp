// MPI datatypes as loop nests: asks the MPI how a type was constructed, and builds a Nest with the
// same layout. It takes the place of the flattened datatype of other implementations. Source:
// MPI-4.1, sections 5.1.13 (decoding) and 5.1.2 (constructors).
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/pattern/nest.hpp"

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

// A datatype as the engine needs it: where its bytes lie, how far apart its copies are (extent),
// and how many bytes it has (size).
struct DecodedType {
    pattern::Nest nest;
    std::int64_t extent = 0;
    std::int64_t size = 0;
};

// The large-count inquiry functions of MPI-4. They are looked up by name at run time; null in an
// older MPI.
struct LargeCountInquiry {
    int (*envelope)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*) = nullptr;
    int (*contents)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[], MPI_Aint[],
                    MPI_Count[], MPI_Datatype[]) = nullptr;
};

// Decodes `type`. ErrorCode::unsupported, with the reason, if its constructor is not known here.
// Contract: `type` is not MPI_DATATYPE_NULL.
Result<DecodedType> decode(MPI_Datatype type, const LargeCountInquiry& inquiry);

// Bytes of data in one element of `type`; -1: the MPI does not say.
[[nodiscard]] std::int64_t size_of(MPI_Datatype type) noexcept;

// Bytes of data in `count` elements of `type`; -1: the MPI does not say, the arguments are invalid
// (MPI_DATATYPE_NULL is allowed here), or there are more than can be counted.
[[nodiscard]] std::int64_t bytes_of(MPI_Count count, MPI_Datatype type) noexcept;

// Whether `type` is named (predefined): such types need not, and must not, be duplicated or freed.
[[nodiscard]] bool is_named(MPI_Datatype type, const LargeCountInquiry& inquiry) noexcept;

}  // namespace forebay::interposer
