// The view of one open file as the program set it by MPI_File_set_view, decoded for the engine.
#pragma once

#include "collective/engine/file.hpp"
#include "collective/mpi/datatype.hpp"
#include "foundation/pattern/view.hpp"

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

// The arguments of a call of MPI_File_set_view.
struct ViewArguments {
    MPI_Offset displacement = 0;
    MPI_Datatype etype = MPI_BYTE;
    MPI_Datatype filetype = MPI_BYTE;
    const char* datarep = "native";
    MPI_Info info = MPI_INFO_NULL;
};

struct FileView {
    std::int64_t etype_bytes = 1;  // at least 1, unless refused
    bool without_data = false;     // the filetype has no bytes: only empty accesses are possible
    bool one_tile = false;  // a second tile would overlap the first, so only the first can be used
    pattern::View bytes;    // where the data stream lies in the file; invalid if refused
    engine::Refusal refusal = engine::Refusal::none;

    // The view that every file has after its open: all bytes from the start of the file.
    FileView() = default;
    // Decodes the view that the program set. It is refused (`refusal`) if the filetype cannot be
    // decoded, or not with the memory that is left, and for arguments that the MPI will not accept.
    static FileView make(const ViewArguments& arguments, const LargeCountInquiry& inquiry);

    // Whether every byte of [position, position + length) of the data stream has a place in the
    // file, below an offset of 2^61.
    [[nodiscard]] bool reaches(std::int64_t position, std::int64_t length) const noexcept;

private:
    static FileView decoded(const ViewArguments& arguments, const LargeCountInquiry& inquiry);
};

}  // namespace forebay::interposer
