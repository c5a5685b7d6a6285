// One request done by plain system calls in the calling thread.
#pragma once

#include "foundation/ports/storage.hpp"

#include <cstddef>

namespace forebay::adapters {

// Pieces [first, last) of a request that lie one after another in the file without a gap.
struct PieceRun {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t bytes = 0;
};

// The run that begins with piece `first`; of at most `pieces_max` pieces.
[[nodiscard]] PieceRun run_from(std::span<const ports::Piece> pieces, std::size_t first,
                                std::size_t pieces_max) noexcept;

// Moves the pieces in order and stops at the first call that was short or failed.
[[nodiscard]] ports::RequestCompletion transfer(int fd, const ports::Request& request) noexcept;

}  // namespace forebay::adapters
