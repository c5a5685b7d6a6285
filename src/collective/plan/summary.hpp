// A rank's request in a few numbers: all that others need to know of it to plan. Summaries of ranks
// merge into that of a node, and those of nodes into that of the job; they are plain bytes, so they
// travel through shared memory and messages as they are.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/pattern/copy.hpp"
#include "foundation/pattern/view.hpp"

#include <cstdint>

namespace forebay::plan {

struct Summary {
    std::int64_t begin = 0;           // first byte in the file; meaningless when bytes is 0
    std::int64_t end = 0;             // one past the last
    std::int64_t bytes = 0;           // of data
    std::int64_t granularity = 1;     // power of two that divides every piece
    std::int64_t shortest_piece = 0;  // bytes
    bool unbroken = true;             // each rank's request is one piece, or nothing
    bool long_in_memory = true;       // its pieces of memory are worth an entry of a vector each

    [[nodiscard]] bool empty() const noexcept { return bytes == 0; }
    [[nodiscard]] Extent span() const noexcept {
        return Extent{Offset{begin}, Length{end - begin}};
    }
    bool operator==(const Summary&) const noexcept = default;
};

// A system call takes longer for so small a piece of memory than a copy to staging does.
constexpr std::int64_t memory_piece_min = 256;

// The shortest piece of a rank's memory, in bytes. Types laid end to end are one piece as long as
// the request.
[[nodiscard]] std::int64_t memory_piece(const pattern::RankMemory& memory,
                                        const pattern::ViewRange& request) noexcept;

// Summarises a rank's request through its view; `memory_piece`: its memory's shortest, in bytes.
[[nodiscard]] Summary summarise(const pattern::View& view, const pattern::ViewRange& request,
                                std::int64_t memory_piece);

// The summary of both together.
[[nodiscard]] Summary merge(const Summary& a, const Summary& b) noexcept;

// Whether a rank or node with this summary may have data in `extent`.
[[nodiscard]] bool touches(const Summary& summary, const Extent& extent) noexcept;

}  // namespace forebay::plan
