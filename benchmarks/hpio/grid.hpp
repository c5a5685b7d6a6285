// A Cartesian grid of ranks over an array's dimensions, and the block of each coordinate.
#pragma once

#include "benchmarks/hpio/pattern.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <vector>

namespace forebay::hpio {

// Ranks in each dimension, whose product is `ranks`. Given numbers are kept; the others are chosen
// so that a rank's part is as near to a cube as the factors allow.
[[nodiscard]] Result<std::vector<std::int32_t>> grid_of(const ArrayPattern& array,
                                                        std::int32_t ranks);

// The block of `coordinate`, relative to the start of the written part; block lengths differ by at
// most one.
[[nodiscard]] IndexRun block_of(const ArrayDimension& dimension, std::int64_t coordinate) noexcept;

// The coordinate that owns `index` (relative to the start of the part), in a block or block-cyclic
// distribution.
[[nodiscard]] std::int64_t coordinate_of(const ArrayDimension& dimension,
                                         std::int64_t index) noexcept;

}  // namespace forebay::hpio
