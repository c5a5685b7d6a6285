// A datatype that is Forebay's own: the program may free its handle at any time.
#pragma once

#include "collective/mpi/datatype.hpp"

#include <mpi.h>

namespace forebay::interposer {

class OwnType {
public:
    OwnType() noexcept = default;  // MPI_BYTE
    // A duplicate of a derived type, or a named type as it is.
    static OwnType keep(MPI_Datatype type, const LargeCountInquiry& inquiry);
    // A handle that the MPI made for us: freed unless it is a named type.
    static OwnType take(MPI_Datatype type, const LargeCountInquiry& inquiry);
    OwnType(OwnType&& other) noexcept;
    OwnType& operator=(OwnType&& other) noexcept;
    OwnType(const OwnType&) = delete;
    OwnType& operator=(const OwnType&) = delete;
    ~OwnType();

    [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }
    // For a program, which frees it unless it is a named one. MPI-4.1, 14.3.
    [[nodiscard]] MPI_Datatype copy() const noexcept;

private:
    MPI_Datatype type_ = MPI_BYTE;
    bool derived_ = false;
};

}  // namespace forebay::interposer
