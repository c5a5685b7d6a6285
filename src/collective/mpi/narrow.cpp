// The fallbacks that are not generated, and the datatype that stands for a large count.
#include "collective/mpi/narrow.hpp"

#include "entry/functions.hpp"

#include <array>

namespace forebay::interposer {

namespace {

constexpr MPI_Count chunk = MPI_Count{1} << 30;  // elements of the inner type

}  // namespace

LargeCountType::LargeCountType(MPI_Count count, MPI_Datatype datatype) noexcept {
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(datatype, &low, &extent);
    std::array<MPI_Datatype, 2> parts{datatype, datatype};
    const MPI_Count chunks = count / chunk;
    MPI_Datatype one = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(static_cast<int>(chunk), datatype, &one);
    PMPI_Type_contiguous(static_cast<int>(chunks), one, parts.data());
    const std::array<int, 2> lengths{1, static_cast<int>(count % chunk)};
    const std::array<MPI_Aint, 2> at{0, static_cast<MPI_Aint>(chunks * chunk) * extent};
    PMPI_Type_create_struct(2, lengths.data(), at.data(), parts.data(), &type_);
    PMPI_Type_commit(&type_);
    PMPI_Type_free(&one);
    PMPI_Type_free(parts.data());
}

LargeCountType::~LargeCountType() { PMPI_Type_free(&type_); }

int forebay_narrow_get_type_extent_c(MPI_File fh, MPI_Datatype datatype,
                                     MPI_Count* extent) noexcept {
    MPI_Aint plain = 0;
    const int code = real::get_type_extent(fh, datatype, &plain);
    *extent = plain;
    return code;
}

}  // namespace forebay::interposer
