// A rank's request in a few numbers, which are all that other ranks need to know of it to plan. The
// summaries of ranks merge into that of a node, and those of nodes into that of the job. They are
// plain bytes: they travel through shared memory and messages as they are.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/pattern/copy.hpp"
#include "foundation/pattern/view.hpp"

#include <cstdint>

namespace forebay::plan {

struct Summary {
    std::int64_t begin = 0;           // offset of the first byte; meaningless when bytes is 0
    std::int64_t end = 0;             // offset one past the last byte
    std::int64_t bytes = 0;           // bytes of data, without holes
    std::int64_t granularity = 1;     // power of two that divides begin and length of every piece
    std::int64_t shortest_piece = 0;  // bytes
    bool unbroken = true;             // each rank's request is one piece, or nothing
    bool long_in_memory = true;       // every piece of its memory is worth an iovec of its own

    [[nodiscard]] bool empty() const noexcept { return bytes == 0; }
    [[nodiscard]] Extent span() const noexcept {
        return Extent{Offset{begin}, Length{end - begin}};
    }
    bool operator==(const Summary&) const noexcept = default;
};

// In bytes. A shorter piece of memory costs a system call more time, as an iovec of its own, than
// copying the piece to staging would.
constexpr std::int64_t memory_piece_min = 256;

// The shortest contiguous piece of a rank's memory, in bytes. Datatypes without gaps, laid end to
// end, are one piece as long as the request.
[[nodiscard]] std::int64_t memory_piece(const pattern::RankMemory& memory,
                                        const pattern::ViewRange& request) noexcept;

// Summarises a rank's request through its view. `memory_piece`: the shortest contiguous piece of
// the rank's memory, in bytes.
[[nodiscard]] Summary summarise(const pattern::View& view, const pattern::ViewRange& request,
                                std::int64_t memory_piece);

// The summary of both requests together.
[[nodiscard]] Summary merge(const Summary& a, const Summary& b) noexcept;

// Whether a rank or node with this summary may have data in `extent`.
[[nodiscard]] bool touches(const Summary& summary, const Extent& extent) noexcept;

}  // namespace forebay::plan
