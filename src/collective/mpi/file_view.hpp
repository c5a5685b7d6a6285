// The view of one open file as the program set it, decoded for the engine.
#pragma once

#include "collective/engine/file.hpp"
#include "collective/mpi/datatype.hpp"
#include "foundation/pattern/view.hpp"

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

// A program's arguments to MPI_File_set_view.
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
    bool one_tile = false;  // a second tile would overlap the first: only that one can be used
    pattern::View bytes;    // where the data stream lies; not valid when refused
    engine::Refusal refusal = engine::Refusal::none;

    // A view of a file's bytes from its start, as every file has after open.
    FileView() = default;
    // The view that the program set; or a refusal, for a filetype that cannot be decoded, or not
    // with the memory there is, and for arguments that the MPI will not take.
    static FileView make(const ViewArguments& arguments, const LargeCountInquiry& inquiry);

    // Whether all of [position, position + length) of the data stream has a place in the file, with
    // a 63-bit offset.
    [[nodiscard]] bool reaches(std::int64_t position, std::int64_t length) const noexcept;

private:
    static FileView decoded(const ViewArguments& arguments, const LargeCountInquiry& inquiry);
};

}  // namespace forebay::interposer
