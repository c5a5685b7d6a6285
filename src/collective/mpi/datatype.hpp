// MPI datatypes as loop nests: asks the MPI how a type was made and makes the same of a Nest.
// Source: MPI-4.1, sections 5.1.13 (decoding) and 5.1.2 (constructors).
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/pattern/nest.hpp"

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

// A datatype as the engine needs it: where its bytes lie and how far apart its copies are.
struct DecodedType {
    pattern::Nest nest;
    std::int64_t extent = 0;
    std::int64_t size = 0;
};

// The large-count inquiry functions of MPI-4: found by name at run time, null in an older MPI.
struct LargeCountInquiry {
    int (*envelope)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*) = nullptr;
    int (*contents)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[], MPI_Aint[],
                    MPI_Count[], MPI_Datatype[]) = nullptr;
};

// ErrorCode::unsupported with the reason where the type is of a kind that is not known.
// Contract: `type` is not MPI_DATATYPE_NULL.
Result<DecodedType> decode(MPI_Datatype type, const LargeCountInquiry& inquiry);

// Bytes of data in one `type`; -1 where the MPI does not say.
[[nodiscard]] std::int64_t size_of(MPI_Datatype type) noexcept;

// Named types need not be (and must not be) duplicated or freed.
[[nodiscard]] bool is_named(MPI_Datatype type, const LargeCountInquiry& inquiry) noexcept;

}  // namespace forebay::interposer
