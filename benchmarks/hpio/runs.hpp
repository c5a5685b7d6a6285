// Which indices of one dimension a rank has: equal runs at equal distances, the last one cut where
// the dimension ends. Blocks, sub-arrays, block-cyclic pieces and HPIO's regions are all of this
// form, so a million regions cost no more memory than one.
#pragma once

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <cstdint>

namespace forebay::hpio {

struct IndexRun {
    std::int64_t begin = 0;
    std::int64_t length = 0;

    bool operator==(const IndexRun&) const noexcept = default;
};

struct IndexRuns {
    std::int64_t first = 0;
    std::int64_t length = 0;  // of a whole run
    std::int64_t stride = 1;  // from a run's begin to the next one's; at least `length`
    std::int64_t end = 0;     // no index is at or beyond it

    bool operator==(const IndexRuns&) const noexcept = default;

    [[nodiscard]] std::int64_t count() const noexcept {
        expects(stride > 0, "runs go forward");
        return first < end && length > 0 ? (end - first + stride - 1) / stride : 0;
    }
    [[nodiscard]] IndexRun at(std::int64_t number) const noexcept {
        const std::int64_t begin = first + number * stride;
        return {begin, std::min(length, end - begin)};
    }
    // Indices in all runs.
    [[nodiscard]] std::int64_t total() const noexcept {
        const std::int64_t runs = count();
        return runs == 0 ? 0 : (runs - 1) * length + at(runs - 1).length;
    }
};

// One run of `length` from `begin`.
[[nodiscard]] inline IndexRuns single(IndexRun run) noexcept {
    return {.first = run.begin,
            .length = run.length,
            .stride = std::max<std::int64_t>(run.length, 1),
            .end = run.begin + run.length};
}

}  // namespace forebay::hpio
