// Moves bytes between a rank's memory, as its datatype lays it out, and an image of a part of the
// file, piece by piece at loop-nest speed: no list of pieces is ever made.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/pattern/coverage.hpp"
#include "foundation/pattern/nest.hpp"
#include "foundation/pattern/view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pattern {

// A rank's memory: `base` plus a nest that is tiled `extent` bytes apart (the datatype and its
// count; the tiles are without end here, the request's length bounds them). Displacements may be
// negative or absolute (base nullptr).
struct RankMemory {
    std::byte* base = nullptr;
    const Nest* nest = nullptr;
    std::int64_t extent = 0;
};

// Bytes that are contiguous both in the file and in memory.
struct MemoryRun {
    Offset at;
    std::byte* bytes = nullptr;
    std::int64_t length = 0;
};

// One request of a rank, to be met window by window. A value that holds no memory of its own: it
// finds any window in O(depth · log list), in any order, and no call allocates.
class WindowedTransfer {
public:
    // Contracts: memory.nest->size() > 0 when request.length > 0. `view` and `memory.nest` outlive
    // it.
    WindowedTransfer(const View& view, ViewRange request, const RankMemory& memory);

    // Copies the request's bytes that lie in `window` of the file from memory into
    // image[offset - window.begin] and marks them in `coverage` (unless it is nullptr) at
    // image_offset_in_coverage + offset - window.begin. Returns the bytes copied.
    // Contract: the image holds every byte of the request that lies in the window.
    std::int64_t gather(const Extent& window, std::span<std::byte> image, Coverage* coverage,
                        std::int64_t image_offset_in_coverage) const;
    // The way back: image into memory. The window's bytes beyond image.size() are left alone.
    std::int64_t scatter(const Extent& window, std::span<const std::byte> image) const;
    // Only marks (what a read needs), copies nothing.
    std::int64_t mark(const Extent& window, Coverage& coverage,
                      std::int64_t image_offset_in_coverage) const;
    // Bytes of the request that lie in `window`; moves nothing.
    [[nodiscard]] std::int64_t bytes_in(const Extent& window) const;
    // For writers that bypass the exchange: the first runs of the request at or after
    // window.begin, as long as possible, in file order; returns how many, at most out.size().
    // To go on, ask again with a window that begins where the last run ended; 0 is the end.
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
    std::int64_t unit_ = 0;  // pieces are split into units of this size; 0: they are not
};

}  // namespace forebay::pattern
