// A file view: where the bytes of a rank's data stream lie in the file. The filetype's nest, tiled
// at its extent from a displacement on, without end. MPI-4.1, section 14.3.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"
#include "foundation/pattern/nest.hpp"

#include <cstdint>

namespace forebay::pattern {

// `length` bytes of a view's data stream from `position` on: what one call of one rank asks for.
struct ViewRange {
    std::int64_t position = 0;
    std::int64_t length = 0;
};

class View {
public:
    View();  // the file as it is: displacement 0, bytes

    // Refuses (ErrorCode::unsupported, with the reason) filetypes that are not ascending, have no
    // data, or whose tiles overlap or lie in one another.
    static Result<View> make(Offset displacement, const Nest& filetype, Length extent,
                             Length etype_size);

    [[nodiscard]] Offset displacement() const noexcept { return displacement_; }
    [[nodiscard]] Length etype_size() const noexcept { return etype_size_; }
    [[nodiscard]] const Nest& filetype() const noexcept { return filetype_; }
    [[nodiscard]] Length extent() const noexcept { return extent_; }
    [[nodiscard]] bool contiguous() const noexcept { return contiguous_; }

    // File offset of byte `position` of the data stream.
    [[nodiscard]] Offset offset_of(std::int64_t position) const noexcept;
    // Bytes of the stream that lie below `offset`.
    [[nodiscard]] std::int64_t bytes_below(Offset offset) const noexcept;
    // First file offset at or after `offset` that the stream covers.
    [[nodiscard]] Offset next_at(Offset offset) const noexcept;
    // As Nest::granularity, over displacement and tiles too. Whole pieces only: a request may cut
    // its first and last piece, for it there is the next one.
    [[nodiscard]] std::int64_t granularity() const noexcept { return granularity_; }
    // A divisor of every piece that `request` touches: the granularity that coverage needs, as long
    // as the windows are multiples of it.
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
