// Patterns as MPI datatypes, made with the constructors that applications use: vector, struct,
// subarray, darray; nested vectors where none of them fits.
#pragma once

#include "benchmarks/hpio/command.hpp"
#include "foundation/base/result.hpp"

#include <mpi.h>

namespace forebay::bench {

class Datatype {
public:
    Datatype() = default;
    // Commits `type` and owns it.
    explicit Datatype(MPI_Datatype type);
    ~Datatype();
    Datatype(Datatype&& other) noexcept;
    Datatype& operator=(Datatype&& other) noexcept;
    Datatype(const Datatype&) = delete;
    Datatype& operator=(const Datatype&) = delete;

    [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }

private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// A rank's arguments to MPI_File_set_view and to a call.
struct MpiAccess {
    MPI_Offset displacement = 0;
    Datatype filetype;
    Datatype memory;
    int count = 1;  // of `memory`
};

// The error says which number MPI cannot hold.
[[nodiscard]] Result<MpiAccess> access_of(const hpio::Job& job, Rank rank, hpio::Types types);

}  // namespace forebay::bench
