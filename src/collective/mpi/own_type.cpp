// Only derived types are duplicated and freed: MPI forbids to free a named one.
#include "collective/mpi/own_type.hpp"

#include <utility>

namespace forebay::interposer {

OwnType OwnType::take(MPI_Datatype type, const LargeCountInquiry& inquiry) {
    OwnType own;
    own.type_ = type;
    own.derived_ = !is_named(type, inquiry);
    return own;
}

OwnType OwnType::keep(MPI_Datatype type, const LargeCountInquiry& inquiry) {
    OwnType own = take(type, inquiry);
    own.type_ = own.copy();
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
    if (!derived_) {
        return type_;
    }
    MPI_Datatype made = MPI_DATATYPE_NULL;
    PMPI_Type_dup(type_, &made);
    return made;
}

}  // namespace forebay::interposer
