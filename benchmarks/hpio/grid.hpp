// A grid of ranks over an array's dimensions, and the block of each coordinate.
#pragma once

#include "benchmarks/hpio/pattern.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <vector>

namespace forebay::hpio {

// Ranks of each dimension, whose product is `ranks`: what is given, the rest so that a rank's part
// is as near to a cube as the factors allow.
[[nodiscard]] Result<std::vector<std::int32_t>> grid_of(const ArrayPattern& array,
                                                        std::int32_t ranks);

// The block of `coordinate`, from the start of the part that is written; lengths differ by one at
// most.
[[nodiscard]] IndexRun block_of(const ArrayDimension& dimension, std::int64_t coordinate) noexcept;

// The coordinate whose block or cyclic piece has `index` (from the start of the part).
[[nodiscard]] std::int64_t coordinate_of(const ArrayDimension& dimension,
                                         std::int64_t index) noexcept;

}  // namespace forebay::hpio
