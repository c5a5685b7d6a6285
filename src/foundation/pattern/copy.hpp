// Gather and scatter: moves bytes between a rank's memory, laid out by its datatype, and a staging
// buffer that holds a part of the file (here: the image). It works at the speed of nested loops and
// never makes a list of pieces (a flattened datatype).
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/pattern/coverage.hpp"
#include "foundation/pattern/nest.hpp"
#include "foundation/pattern/view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pattern {

// A rank's memory buffer: `base` and a nest tiled `extent` bytes apart (the datatype and its
// count). The tiles have no end here; the length of the request bounds them. Displacements may be
// negative, or absolute with `base` null (MPI_BOTTOM).
struct RankMemory {
    std::byte* base = nullptr;
    const Nest* nest = nullptr;
    std::int64_t extent = 0;
};

// A run of bytes that is contiguous both in the file and in memory.
struct MemoryRun {
    Offset at;
    std::byte* bytes = nullptr;
    std::int64_t length = 0;
};

// One request of a rank, transferred window by window. Windows may come in any order; each is found
// in O(depth · log list). No call allocates, and the object owns no memory.
class WindowedTransfer {
public:
    // Contracts: memory.nest->size() > 0 when request.length > 0. `view` and `memory.nest` outlive
    // this object.
    WindowedTransfer(const View& view, ViewRange request, const RankMemory& memory);

    // Copies the request's bytes in `window` of the file from memory to image[offset -
    // window.begin] and marks them in `coverage` (unless null) at image_offset_in_coverage + offset
    // - window.begin. Returns the number of bytes copied. Contract: the image holds every byte of
    // the request in the window.
    std::int64_t gather(const Extent& window, std::span<std::byte> image, Coverage* coverage,
                        std::int64_t image_offset_in_coverage) const;
    // The inverse: copies from the image to memory. Bytes of the window beyond image.size() are
    // skipped.
    std::int64_t scatter(const Extent& window, std::span<const std::byte> image) const;
    // Only marks the bytes that gather() would copy: the bytes that a read needs.
    std::int64_t mark(const Extent& window, Coverage& coverage,
                      std::int64_t image_offset_in_coverage) const;
    // The number of bytes of the request in `window`; copies nothing.
    [[nodiscard]] std::int64_t bytes_in(const Extent& window) const;
    // For independent I/O that bypasses the exchange: stores in `out` the first runs of the request
    // at or after window.begin, in file order and each as long as possible, and returns their
    // number. For more, call again with a window that begins at the end of the last run; 0 means
    // the end.
    std::size_t runs(const Extent& window, std::span<MemoryRun> out) const;

private:
    struct Span {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    [[nodiscard]] Span span_in(const Extent& window) const;
    void mark(const Span& span, const Extent& window, Coverage& coverage,
              std::int64_t image_offset) const;

    const View* view_;
    ViewRange request_;
    RankMemory memory_;
    std::int64_t unit_ = 0;  // pieces are split into units of this many bytes; 0: pieces stay whole
};

}  // namespace forebay::pattern
