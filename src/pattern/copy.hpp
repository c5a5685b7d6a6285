// Moves bytes between a rank's memory, as its datatype lays it out, and an image of a part of the
// file, piece by piece at loop-nest speed: no list of pieces is ever made.
#pragma once

#include "base/units.hpp"
#include "pattern/coverage.hpp"
#include "pattern/nest.hpp"
#include "pattern/view.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace forebay::pattern {

// A rank's memory: `base` plus a nest that is tiled `extent` bytes apart (the datatype and its
// count; the tiles are without end here, the request's length bounds them). Displacements may be
// negative or absolute (base nullptr).
struct Memory {
    std::byte* base = nullptr;
    const Nest* nest = nullptr;
    std::int64_t extent = 0;
};

// Walks one request of a rank through ascending file windows. Making one allocates its small
// stacks; gather and scatter do not allocate.
class Transfer {
public:
    // Contracts: memory.nest->size() > 0 when request.length > 0. `view` and `memory.nest` outlive it.
    Transfer(const View& view, Request request, const Memory& memory);
    ~Transfer();
    Transfer(Transfer&&) noexcept;
    Transfer& operator=(Transfer&&) noexcept;

    // Copies the request's bytes that lie in `window` of the file from memory into
    // image[offset - window.begin] and marks them in `coverage` from bit `mark_from` on (units of
    // coverage.granularity(); skipped when coverage is nullptr). Returns the bytes copied.
    // Windows must ascend from call to call for speed; any order is right.
    std::int64_t gather(const Extent& window, std::span<std::byte> image, Coverage* coverage,
                        std::int64_t image_offset_in_coverage);
    // The way back: image into memory. Bytes of the image beyond image.size() are left alone.
    std::int64_t scatter(const Extent& window, std::span<const std::byte> image);
    // Only marks (what a read needs), copies nothing.
    std::int64_t mark(const Extent& window, Coverage& coverage,
                      std::int64_t image_offset_in_coverage);

    // Calls `f(file extent, memory)` for runs contiguous in the file, in order: for writers that
    // bypass the exchange. `f` gets the bytes of memory piecewise when memory is not contiguous.
    class State;

private:
    std::unique_ptr<State> state_;
};

}  // namespace forebay::pattern
