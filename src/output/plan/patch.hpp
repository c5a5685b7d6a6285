// The part of a global array that one rank holds, as runs of elements. A program hands over boxes
// (of regular grids) or lists of indices (of unstructured ones), files want their elements in
// order: this is where the two meet. All indices are from 0, and the last dimension of a shape is
// the one whose elements are neighbours in the file (as in C and netCDF).
#pragma once

#include "foundation/base/result.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::output {

inline constexpr std::size_t dimensions_max = 15;

// Elements [begin, end) of an array in the order of the file.
struct ElementRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    [[nodiscard]] constexpr std::int64_t length() const noexcept { return end - begin; }
    [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
    constexpr bool operator==(const ElementRange&) const noexcept = default;
};

// Elements that are neighbours in the array as well as among those that the rank holds, when these
// are packed in the order of the array.
struct ArrayRun {
    std::int64_t at = 0;      // index in the array
    std::int64_t packed = 0;  // index among the rank's packed elements
    std::int64_t length = 0;  // elements

    constexpr bool operator==(const ArrayRun&) const noexcept = default;
};

// A box of an array: for each dimension, its first index and its extent.
struct ArrayBox {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;

    bool operator==(const ArrayBox&) const = default;
    [[nodiscard]] bool empty() const noexcept { return std::ranges::find(count, 0) != count.end(); }
};

// The number of elements of a shape. Fails if a size is not positive, if there are no or too many
// dimensions, or if the number exceeds 2^60.
[[nodiscard]] Result<std::int64_t> elements_of(std::span<const std::int64_t> shape);

class RankPatch {
public:
    RankPatch() = default;  // no elements
    // Fails if the box does not lie within the shape, which elements_of() has accepted.
    [[nodiscard]] static Result<RankPatch> box(std::span<const std::int64_t> shape,
                                               const ArrayBox& box);
    // Contract: the runs ascend and do not overlap, and their packed indices follow each other.
    [[nodiscard]] static RankPatch of_runs(std::vector<ArrayRun> runs);

    [[nodiscard]] std::int64_t elements() const noexcept { return elements_; }
    // The number of elements whose index in the array is less than `at`: where they end in the
    // packed elements. Takes O(log runs).
    [[nodiscard]] std::int64_t below(std::int64_t at) const noexcept;
    // Those of the packed elements that lie in `range` of the array; they are neighbours.
    [[nodiscard]] ElementRange packed_in(const ElementRange& range) const noexcept {
        return {below(range.begin), below(range.end)};
    }
    // Calls use(ArrayRun) for what lies in `range` of the array, in ascending order.
    template <class Use>
    void each_run(const ElementRange& range, Use use) const;

private:
    // A box as rows: the innermost loop gives `rows_.count` rows that are `rows_.stride` apart.
    struct BoxLoop {
        std::int64_t count = 1;
        std::int64_t stride = 0;  // elements of the array
    };
    [[nodiscard]] std::int64_t rows() const noexcept;
    [[nodiscard]] std::int64_t row_begin(std::int64_t row) const noexcept;
    [[nodiscard]] std::int64_t row_length(std::int64_t row) const noexcept;
    // The first row that ends behind `at`.
    [[nodiscard]] std::int64_t row_behind(std::int64_t at) const noexcept;

    std::int64_t elements_ = 0;
    // Boxes: the array's index of the first element, the elements of a row, and the loops over
    // rows, the outermost first (always at least one).
    std::int64_t base_ = 0;
    std::int64_t row_ = 0;
    std::vector<BoxLoop> loops_;
    // All other patches.
    std::vector<ArrayRun> runs_;
};

// The patch of a rank that lists the array's index of each of its elements, and where each of the
// patch's packed elements is in that list.
struct MappedPatch {
    RankPatch patch;
    std::vector<std::int64_t> order;
};

// `indices`: from 0; an element with a negative index is left out (halo, land). Fails if an index
// is not below `elements`, or is there twice.
[[nodiscard]] Result<MappedPatch> map_patch(std::int64_t elements,
                                            std::span<const std::int64_t> indices);

template <class Use>
void RankPatch::each_run(const ElementRange& range, Use use) const {
    const auto clipped = [&](const ArrayRun& run) {
        const std::int64_t begin = std::max(run.at, range.begin);
        const std::int64_t end = std::min(run.at + run.length, range.end);
        use(ArrayRun{begin, run.packed + begin - run.at, end - begin});
    };
    const std::int64_t all = rows();
    std::int64_t row = range.empty() ? all : row_behind(range.begin);
    if (!runs_.empty()) {
        for (; row < all; ++row) {
            const ArrayRun& run = runs_[static_cast<std::size_t>(row)];
            if (run.at >= range.end) {
                return;
            }
            clipped(run);
        }
        return;
    }
    while (row < all) {
        const BoxLoop& inner = loops_.back();
        std::int64_t at = row_begin(row);
        for (std::int64_t left = inner.count - row % inner.count; left > 0; --left, ++row) {
            if (at >= range.end) {
                return;
            }
            clipped({at, row * row_, row_});
            at += inner.stride;
        }
    }
}

}  // namespace forebay::output
