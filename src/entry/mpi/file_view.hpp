// The view of one open file as the program set it, and how much of it the MPI knows.
//
// A view with millions of pieces costs the MPI time and memory each time it is set, and a barrier;
// HDF5 and PnetCDF set it before and after every call. So from the third time on the MPI is not
// told (the view is *held back*) until a collective call has to be left to it. While a view is held back, the individual
// file pointer is kept here, and independent calls go through a stand-in handle.
#pragma once

#include "entry/mpi/datatype.hpp"
#include "engine/file.hpp"
#include "pattern/view.hpp"

#include <cstdint>
#include <mpi.h>

namespace forebay::entry {

// A datatype that is the program's no more: a duplicate of a derived type, or a named one.
class OwnType {
public:
    OwnType() noexcept = default;
    static OwnType keep(MPI_Datatype type, const LargeCountInquiry& inquiry);
    OwnType(OwnType&& other) noexcept;
    OwnType& operator=(OwnType&& other) noexcept;
    OwnType(const OwnType&) = delete;
    OwnType& operator=(const OwnType&) = delete;
    ~OwnType();

    [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }
    [[nodiscard]] bool derived() const noexcept { return derived_; }
    // For a program, which frees it unless it is a named one.
    [[nodiscard]] MPI_Datatype copy() const noexcept;

private:
    MPI_Datatype type_ = MPI_BYTE;
    bool derived_ = false;
};

// What a view is, as far as handles can tell: two plain ones (named types) can be compared.
struct ViewKey {
    MPI_Offset displacement = 0;
    MPI_Datatype etype = MPI_BYTE;
    MPI_Datatype filetype = MPI_BYTE;
    bool plain = true;
    bool operator==(const ViewKey&) const noexcept = default;
};

struct FileView {
    MPI_Offset displacement = 0;
    OwnType etype;
    OwnType filetype;
    std::int64_t etype_bytes = 1;
    pattern::View bytes;  // where the data stream lies; not valid when refused
    engine::Refusal refusal = engine::Refusal::none;
    bool held_back = false;
    MPI_Offset position = 0;  // etypes; the individual file pointer while held back

    [[nodiscard]] ViewKey key() const noexcept {
        return {displacement, etype.get(), filetype.get(), !etype.derived() && !filetype.derived()};
    }

    // A view of a file's bytes from its start, as every file has after open.
    FileView() = default;
    // What the program set; a filetype that cannot be decoded gives a view with a refusal.
    static FileView make(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                         const LargeCountInquiry& inquiry);
};

// Whether the MPI would take these arguments: only then may a view be held back.
[[nodiscard]] bool is_valid_view(MPI_Offset displacement, MPI_Datatype etype,
                                 MPI_Datatype filetype) noexcept;

}  // namespace forebay::entry
