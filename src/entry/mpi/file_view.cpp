// See file_view.hpp.
#include "entry/mpi/file_view.hpp"

#include <utility>

namespace forebay::entry {

OwnType OwnType::keep(MPI_Datatype type, const LargeCountInquiry& inquiry) {
    OwnType own;
    own.derived_ = !is_named(type, inquiry);
    own.type_ = type;
    if (own.derived_) {
        PMPI_Type_dup(type, &own.type_);
    }
    return own;
}

OwnType::OwnType(OwnType&& other) noexcept
    : type_(std::exchange(other.type_, MPI_BYTE)), derived_(std::exchange(other.derived_, false)) {}

OwnType& OwnType::operator=(OwnType&& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(derived_, other.derived_);
    return *this;
}

OwnType::~OwnType() {
    if (derived_) {
        PMPI_Type_free(&type_);
    }
}

MPI_Datatype OwnType::copy() const noexcept {
    MPI_Datatype made = type_;
    if (derived_) {
        PMPI_Type_dup(type_, &made);
    }
    return made;
}

FileView FileView::make(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                        const LargeCountInquiry& inquiry) {
    FileView made;
    made.displacement = displacement;
    made.etype = OwnType::keep(etype, inquiry);
    made.filetype = OwnType::keep(filetype, inquiry);
    made.etype_bytes = size_of(etype);
    const auto layout = decode(filetype, inquiry);
    if (!layout) {
        made.refusal = engine::Refusal::view_unsupported;
        return made;
    }
    auto view = pattern::View::make(Offset{displacement}, layout->nest, Length{layout->extent},
                                    Length{made.etype_bytes});
    if (view) {
        made.bytes = std::move(*view);
    } else {
        made.refusal = engine::Refusal::view_unsupported;
    }
    return made;
}

bool is_valid_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype) noexcept {
    if (displacement < 0 || etype == MPI_DATATYPE_NULL || filetype == MPI_DATATYPE_NULL) {
        return false;
    }
    const std::int64_t unit = size_of(etype);
    const std::int64_t size = size_of(filetype);
    return unit > 0 && size >= 0 && size % unit == 0;
}

}  // namespace forebay::entry
