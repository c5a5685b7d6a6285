// Does one request by system calls in the calling thread.
#pragma once

#include "foundation/ports/storage.hpp"

#include <cstddef>

namespace forebay::adapters {

// Pieces [first, last) of a request, which are contiguous in the file.
struct PieceRun {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t bytes = 0;
};

// The longest such run from piece `first` on, of `pieces_max` pieces at most.
[[nodiscard]] PieceRun run_from(std::span<const ports::Piece> pieces, std::size_t first,
                                std::size_t pieces_max) noexcept;

// Moves the pieces in order; ends at the first call that fails or is short.
[[nodiscard]] ports::RequestCompletion transfer(int fd, const ports::Request& request) noexcept;

// As transfer(), and waits until what was written has left the page cache for the device, which is
// not told to make it durable. An error of that is the request's, with no bytes moved: no later
// fsync by this descriptor would tell it. Where the file system does not know the call, it is
// transfer() alone.
[[nodiscard]] ports::RequestCompletion write_out(int fd, const ports::Request& request) noexcept;

}  // namespace forebay::adapters
