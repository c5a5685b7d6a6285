// A datatype handle that Forebay owns, because the program may free its own handle at any time.
#pragma once

#include "collective/mpi/datatype.hpp"

#include <mpi.h>

namespace forebay::interposer {

class OwnType {
public:
    OwnType() noexcept = default;  // MPI_BYTE
    // Duplicates a derived type; takes a named type as it is.
    static OwnType keep(MPI_Datatype type, const LargeCountInquiry& inquiry);
    // Takes over a handle that the MPI made for Forebay. It is freed unless it is a named type.
    static OwnType take(MPI_Datatype type, const LargeCountInquiry& inquiry);
    OwnType(OwnType&& other) noexcept;
    OwnType& operator=(OwnType&& other) noexcept;
    OwnType(const OwnType&) = delete;
    OwnType& operator=(const OwnType&) = delete;
    ~OwnType();

    [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }
    // A handle for the program, which frees it unless the type is named. MPI-4.1, 14.3.
    [[nodiscard]] MPI_Datatype copy() const noexcept;

private:
    MPI_Datatype type_ = MPI_BYTE;
    bool derived_ = false;
};

}  // namespace forebay::interposer
