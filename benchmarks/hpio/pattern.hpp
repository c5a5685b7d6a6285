// The pattern that a benchmark point writes: HPIO's regions (Ching et al., "Noncontiguous I/O
// accesses through MPI-IO", CCGrid 2003, whose three axes are count, size and spacing), or a part
// of an n-dimensional array distributed over a grid of ranks, as climate models do.
#pragma once

#include "benchmarks/hpio/layout.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace forebay::hpio {

enum class PatternShape { contiguous, noncontiguous };

// Non-contiguous in the file: r0 <gap> r1 <gap> r0 <gap> …; contiguous: each rank's regions end to
// end, ranks one after the other. In memory: with the same gap between a rank's own regions, or
// without.
struct RegionPattern {
    std::int64_t count = 4;  // of each rank
    std::int64_t size_bytes = 8;
    std::int64_t spacing_bytes = 8;
    PatternShape memory = PatternShape::contiguous;
    PatternShape file = PatternShape::contiguous;

    bool operator==(const RegionPattern&) const noexcept = default;
};

// How one dimension of an array is given to ranks.
struct ArrayDimension {
    std::int64_t size = 0;   // of the array in the file
    std::int64_t start = 0;  // of the part that is written
    std::int64_t count = 0;  // of the part that is written
    std::int32_t ranks = 0;  // of the grid; 0: chosen
    std::int64_t block = 0;  // > 0: block-cyclic by so many; 0: one block a rank
    std::int64_t halo = 0;   // cells around the rank's part in memory, on either side

    bool operator==(const ArrayDimension&) const noexcept = default;
};

struct ArrayPattern {
    std::vector<ArrayDimension> dimensions;  // slowest first, as in C
    std::int64_t element_bytes = 8;

    bool operator==(const ArrayPattern&) const noexcept = default;
};

using Pattern = std::variant<RegionPattern, ArrayPattern>;

inline constexpr std::size_t dimensions_max = 8;
inline constexpr std::int64_t bytes_max = std::int64_t{1} << 60;

// The pattern with its grid filled in; an error if it is no pattern or does not suit `ranks`.
[[nodiscard]] Result<Pattern> resolved(const Pattern& pattern, std::int32_t ranks);

// A pattern that is resolved for so many ranks.
struct ResolvedPattern {
    Pattern pattern;
    std::int32_t ranks = 1;

    [[nodiscard]] RunProduct file_layout(Rank rank) const;
    [[nodiscard]] RunProduct memory_layout(Rank rank) const;
    // Bytes of all ranks.
    [[nodiscard]] std::int64_t data_bytes() const;
    // Bytes of the file that are looked at: up to the last that any rank writes, and a guard of one
    // gap behind it.
    [[nodiscard]] std::int64_t watched_bytes() const;
    // Coordinates of a rank in the grid of an array; the last varies fastest.
    [[nodiscard]] std::vector<std::int32_t> coordinates(Rank rank) const;
};

// The rank that writes the byte at an offset, and at least how many from there on.
struct ByteOwner {
    std::optional<Rank> rank;  // nobody: it is a gap
    std::int64_t bytes = 0;
};

[[nodiscard]] ByteOwner owner_at(const ResolvedPattern& job, std::int64_t offset);

// "hpio: 1024 regions of 1024 B every 1152 B, memory contiguous, file non-contiguous".
[[nodiscard]] std::string describe(const Pattern& pattern);

// "c-nc": HPIO's short name of memory and file; "array" for arrays.
[[nodiscard]] std::string short_name(const Pattern& pattern);

}  // namespace forebay::hpio
