// A file view as in MPI_File_set_view: where the bytes of a rank's data stream lie in the file. It
// is the filetype's nest, tiled at its extent from a displacement on, without end. MPI-4.1, section
// 14.3.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"
#include "foundation/pattern/nest.hpp"

#include <cstdint>

namespace forebay::pattern {

// The access of one call by one rank: `length` bytes of a view's data stream from `position` on.
struct ViewRange {
    std::int64_t position = 0;
    std::int64_t length = 0;
};

class View {
public:
    View();  // MPI's default view: displacement 0, etype and filetype MPI_BYTE

    // Refuses (ErrorCode::unsupported, with the reason) filetypes that do not ascend, have no data,
    // or whose tiles overlap or interleave.
    static Result<View> make(Offset displacement, const Nest& filetype, Length extent,
                             Length etype_size);

    [[nodiscard]] Offset displacement() const noexcept { return displacement_; }
    [[nodiscard]] Length etype_size() const noexcept { return etype_size_; }
    [[nodiscard]] const Nest& filetype() const noexcept { return filetype_; }
    [[nodiscard]] Length extent() const noexcept { return extent_; }
    [[nodiscard]] bool contiguous() const noexcept { return contiguous_; }

    // File offset of byte `position` of the data stream.
    [[nodiscard]] Offset offset_of(std::int64_t position) const noexcept;
    // The number of stream bytes below `offset`.
    [[nodiscard]] std::int64_t bytes_below(Offset offset) const noexcept;
    // The first file offset at or after `offset` that belongs to the stream.
    [[nodiscard]] Offset next_at(Offset offset) const noexcept;
    // As Nest::granularity(), including displacement and tiling. It holds for whole pieces; a
    // request may cut its first and last piece, which the overload below takes into account.
    [[nodiscard]] std::int64_t granularity() const noexcept { return granularity_; }
    // The largest power of two (at most granularity_max) that divides every piece of `request`: a
    // valid granularity of its coverage, if window boundaries are multiples of it, too.
    [[nodiscard]] std::int64_t granularity(const ViewRange& request) const noexcept;

private:
    Nest filetype_;
    Offset displacement_;
    Length extent_{1};
    Length etype_size_{1};
    std::int64_t granularity_ = 1;
    bool contiguous_ = true;
};
}  // namespace forebay::pattern
