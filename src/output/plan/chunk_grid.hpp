// How a variable of a netCDF-4 file is divided into chunks. Each chunk is a contiguous part of the
// array, and all have equally many elements (the last one of an array may have fewer), so that a
// writer's window is a few contiguous pieces of the file.
#pragma once

#include "output/plan/patch.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::output {

// Elements of an array that lie in one chunk: `at` elements behind the chunk's first one.
struct ChunkPiece {
    std::int64_t chunk = 0;
    std::int64_t at = 0;
    ElementRange range;

    bool operator==(const ChunkPiece& other) const noexcept {
        return chunk == other.chunk && at == other.at && range.begin == other.range.begin &&
               range.end == other.range.end;
    }
};

class ChunkGrid {
public:
    ChunkGrid() = default;
    // Chunks of at most `chunk_max` elements, but where a dimension has no divisor that would give
    // chunks of a sensible size. Contracts: shape has at least one dimension, none is 0;
    // chunk_max > 0.
    ChunkGrid(std::span<const std::int64_t> shape, std::int64_t chunk_max);

    // Elements of a chunk in each dimension.
    [[nodiscard]] const std::vector<std::int64_t>& chunk_shape() const noexcept { return chunk_; }
    [[nodiscard]] std::int64_t chunk_elements() const noexcept { return chunk_elements_; }
    [[nodiscard]] std::int64_t chunks() const noexcept;
    // The part of the array that lies in a chunk.
    [[nodiscard]] ElementRange range_of(std::int64_t chunk) const noexcept;
    // The index of a chunk's first element in each dimension.
    [[nodiscard]] std::vector<std::int64_t> first_of(std::int64_t chunk) const;
    // In ascending order.
    [[nodiscard]] std::vector<ChunkPiece> pieces_of(const ElementRange& range) const;

private:
    std::vector<std::int64_t> shape_;
    std::vector<std::int64_t> chunk_;
    std::int64_t elements_ = 0;
    std::int64_t chunk_elements_ = 0;
};

}  // namespace forebay::output
