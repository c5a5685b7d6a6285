// The access pattern of a benchmark point: HPIO's regions (Ching et al., "Noncontiguous I/O
// accesses through MPI-IO", CCGrid 2003, with the axes count, size and spacing), or a part of an
// n-dimensional array distributed over a grid of ranks, as in climate models.
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

// HPIO's pattern. Noncontiguous in the file, the ranks' regions interleave: r0 <gap> r1 <gap> r0
// <gap> …; contiguous, each rank's regions are adjacent, and rank follows rank. In memory, a rank's
// regions have the same gap between them, or none.
struct RegionPattern {
    std::int64_t count = 4;  // per rank
    std::int64_t size_bytes = 8;
    std::int64_t spacing_bytes = 8;
    PatternShape memory = PatternShape::contiguous;
    PatternShape file = PatternShape::contiguous;

    bool operator==(const RegionPattern&) const noexcept = default;
};

// The distribution of one dimension of an array over ranks.
struct ArrayDimension {
    std::int64_t size = 0;   // of the array in the file
    std::int64_t start = 0;  // first index of the written part
    std::int64_t count = 0;  // length of the written part
    std::int32_t ranks = 0;  // ranks of the grid; 0: chosen by grid_of()
    std::int64_t block = 0;  // > 0: block-cyclic with this block; 0: one block per rank
    std::int64_t halo = 0;   // ghost cells in memory on either side of the rank's part

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

// Fills in the grid and checks the pattern; error: it is invalid, or does not suit `ranks`.
[[nodiscard]] Result<Pattern> resolved(const Pattern& pattern, std::int32_t ranks);

// A pattern that has been resolved for `ranks`.
struct ResolvedPattern {
    Pattern pattern;
    std::int32_t ranks = 1;

    [[nodiscard]] RunProduct file_layout(Rank rank) const;
    [[nodiscard]] RunProduct memory_layout(Rank rank) const;
    // Data bytes of all ranks.
    [[nodiscard]] std::int64_t data_bytes() const;
    // Size of the checked part of the file: up to the last byte that a rank writes, and one gap
    // after it, which detects writes beyond the end.
    [[nodiscard]] std::int64_t watched_bytes() const;
    // A rank's coordinates in the grid of an array; the last one varies fastest.
    [[nodiscard]] std::vector<std::int32_t> coordinates(Rank rank) const;
};

// The rank that writes the byte at an offset, and a lower bound of how many bytes it owns there.
struct ByteOwner {
    std::optional<Rank> rank;  // nullopt: a gap
    std::int64_t bytes = 0;
};

[[nodiscard]] ByteOwner owner_at(const ResolvedPattern& job, std::int64_t offset);

// "hpio: 1024 regions of 1024 B every 1152 B, memory contiguous, file non-contiguous".
[[nodiscard]] std::string describe(const Pattern& pattern);

// HPIO's short name of the shapes in memory and file, such as "c-nc"; "array" for arrays.
[[nodiscard]] std::string short_name(const Pattern& pattern);

}  // namespace forebay::hpio
