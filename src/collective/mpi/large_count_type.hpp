// A derived datatype that stands for more elements of another datatype than an int can count:
// contiguous chunks of 2^30 elements, and the rest.
#pragma once

#include <limits>
#include <mpi.h>

namespace forebay::interposer {

class LargeCountType {
public:
    static constexpr MPI_Count count_max = std::numeric_limits<int>::max();

    // Contract: count_max < count < 2^60.
    LargeCountType(MPI_Count count, MPI_Datatype datatype) noexcept;
    ~LargeCountType();
    LargeCountType(const LargeCountType&) = delete;
    LargeCountType& operator=(const LargeCountType&) = delete;

    [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }

private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace forebay::interposer
