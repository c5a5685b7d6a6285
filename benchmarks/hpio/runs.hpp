// The indices of one dimension that a rank owns: equal runs at equal distances, of which the last
// may be cut by the dimension's end. Blocks, subarrays, block-cyclic pieces and HPIO's regions all
// have this form, so a million regions take no more memory than one.
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
    std::int64_t length = 0;  // of a run that is not cut
    // Distance from the begin of a run to that of the next; at least `length`.
    std::int64_t stride = 1;
    std::int64_t end = 0;  // all indices are below it

    bool operator==(const IndexRuns&) const noexcept = default;

    [[nodiscard]] std::int64_t count() const noexcept {
        expects(stride > 0, "runs go forward");
        return first < end && length > 0 ? (end - first + stride - 1) / stride : 0;
    }
    [[nodiscard]] IndexRun at(std::int64_t number) const noexcept {
        const std::int64_t begin = first + number * stride;
        return {begin, std::min(length, end - begin)};
    }
    // The number of indices in all runs.
    [[nodiscard]] std::int64_t total() const noexcept {
        const std::int64_t runs = count();
        return runs == 0 ? 0 : (runs - 1) * length + at(runs - 1).length;
    }
};

// A single run.
[[nodiscard]] inline IndexRuns single(IndexRun run) noexcept {
    return {.first = run.begin,
            .length = run.length,
            .stride = std::max<std::int64_t>(run.length, 1),
            .end = run.begin + run.length};
}

}  // namespace forebay::hpio
