// Builds MPI datatypes for patterns with the constructors that applications use: vector, struct,
// subarray and darray, or nested vectors if none of them fits.
#pragma once

#include "benchmarks/hpio/command.hpp"
#include "foundation/base/result.hpp"

#include <mpi.h>

namespace forebay::bench {

class OwnedDatatype {
public:
    OwnedDatatype() = default;
    // Commits `type` and takes ownership.
    explicit OwnedDatatype(MPI_Datatype type);
    ~OwnedDatatype();
    OwnedDatatype(OwnedDatatype&& other) noexcept;
    OwnedDatatype& operator=(OwnedDatatype&& other) noexcept;
    OwnedDatatype(const OwnedDatatype&) = delete;
    OwnedDatatype& operator=(const OwnedDatatype&) = delete;

    [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }

private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// A rank's arguments of MPI_File_set_view and of an I/O call.
struct MpiAccess {
    MPI_Offset displacement = 0;
    OwnedDatatype filetype;
    OwnedDatatype memory;
    int count = 1;  // number of `memory` datatypes
};

// Error: a number exceeds the range of MPI's int; the message names it.
[[nodiscard]] Result<MpiAccess> access_of(const hpio::ResolvedPattern& job, Rank rank,
                                          hpio::DatatypeKind types);

}  // namespace forebay::bench
