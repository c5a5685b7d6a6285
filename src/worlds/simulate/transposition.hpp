// Which ranks a writer of the output API gets data from: patches of a grid in two dimensions are
// put into the order of a file, of which each writer has a consecutive part. As output/plan does it
// for a variable of three dimensions (levels, rows, columns), but with patches of equal size.
#pragma once

#include <cstdint>
#include <vector>

namespace forebay::sim {

// The ranks of a program, as a grid of patches: rank r is in row r / columns.
struct PatchGrid {
    std::int64_t ranks = 1;
    std::int64_t columns = 1;
    std::int64_t levels = 1;  // of the variable; a patch has a part of each

    [[nodiscard]] std::int64_t rows() const noexcept { return ranks / columns; }
};

// The grid with the largest number of columns that divides the ranks and is at most their root.
// Contract: ranks > 0, levels > 0.
[[nodiscard]] PatchGrid patch_grid(std::int64_t ranks, std::int64_t levels) noexcept;

// Consecutive ranks, a row of patches, and the share of the file's bytes that a writer gets from
// all of them together.
struct PatchRow {
    std::int64_t first = 0;
    std::int64_t ranks = 0;
    double share = 0;
};

// The rows that have elements of the file's part [writer / writers, (writer + 1) / writers), each
// once. Their shares add up to 1 / writers.
[[nodiscard]] std::vector<PatchRow> rows_for(const PatchGrid& grid, std::int64_t writer,
                                             std::int64_t writers);

}  // namespace forebay::sim
