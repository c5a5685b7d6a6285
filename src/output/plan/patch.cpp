// Makes runs of elements from boxes and from lists of indices, and refuses patches that do not lie
// in their grid.
#include "output/plan/patch.hpp"

#include "foundation/base/contracts.hpp"

#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace forebay::output {
namespace {

constexpr std::int64_t elements_max = std::int64_t{1} << 60;

tl::unexpected<Error> refused(std::string message) {
    return failure(Error{ErrorCode::argument, 0, std::move(message)});
}

}  // namespace

Result<std::int64_t> elements_of(std::span<const std::int64_t> shape) {
    if (shape.empty() || shape.size() > dimensions_max) {
        return refused(
            fmt::format("a grid cannot have {} dimensions (it may have 1 to {}). Give "
                        "it fewer, or more.",
                        shape.size(), dimensions_max));
    }
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] < 1) {
            return refused(
                fmt::format("dimension {} of the grid has the size {} (sizes are 1 or "
                            "more). Correct the shape.",
                            i, shape[i]));
        }
        if (__builtin_mul_overflow(elements, shape[i], &elements) || elements > elements_max) {
            return refused("the grid has more than 2^60 elements. Correct the shape.");
        }
    }
    return elements;
}

Result<RankPatch> RankPatch::box(std::span<const std::int64_t> shape, const ArrayBox& box) {
    expects(box.start.size() == shape.size() && box.count.size() == shape.size(),
            "a box has the dimensions of its array");
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::int64_t start = box.start[i];
        const std::int64_t count = box.count[i];
        if (start < 0 || count < 0 || start > shape[i] || count > shape[i] - start) {
            return refused(
                fmt::format("the patch does not lie in the grid (dimension {}: {} "
                            "elements from {} on, of {}). Correct start and count.",
                            i, count, start, shape[i]));
        }
    }
    RankPatch made;
    if (box.empty()) {
        return made;
    }
    // Dimensions are joined from the last one on, for as long as they are whole.
    std::int64_t stride = 1;
    made.row_ = 1;
    bool joining = true;
    for (std::size_t i = shape.size(); i-- > 0;) {
        made.base_ += box.start[i] * stride;
        if (joining) {
            made.row_ *= box.count[i];
            joining = box.count[i] == shape[i];
        } else {
            made.loops_.insert(made.loops_.begin(), {box.count[i], stride});
        }
        stride *= shape[i];
    }
    if (made.loops_.empty()) {
        made.loops_.push_back({1, 0});
    }
    made.elements_ = made.row_;
    for (const BoxLoop& loop : made.loops_) {
        made.elements_ *= loop.count;
    }
    return made;
}

RankPatch RankPatch::of_runs(std::vector<ArrayRun> runs) {
    RankPatch made;
    std::int64_t end = 0;
    for (const ArrayRun& run : runs) {
        expects(run.length > 0 && run.at >= end && run.packed == made.elements_,
                "runs ascend, and their packed elements follow each other");
        end = run.at + run.length;
        made.elements_ += run.length;
    }
    made.runs_ = std::move(runs);
    return made;
}

std::int64_t RankPatch::rows() const noexcept {
    if (!runs_.empty()) {
        return static_cast<std::int64_t>(runs_.size());
    }
    return row_ == 0 ? 0 : elements_ / row_;
}

std::int64_t RankPatch::row_begin(std::int64_t row) const noexcept {
    if (!runs_.empty()) {
        return runs_[static_cast<std::size_t>(row)].at;
    }
    std::int64_t at = base_;
    for (std::size_t i = loops_.size(); i-- > 0;) {
        at += row % loops_[i].count * loops_[i].stride;
        row /= loops_[i].count;
    }
    return at;
}

std::int64_t RankPatch::row_length(std::int64_t row) const noexcept {
    return runs_.empty() ? row_ : runs_[static_cast<std::size_t>(row)].length;
}

std::int64_t RankPatch::row_behind(std::int64_t at) const noexcept {
    std::int64_t low = 0;
    std::int64_t high = rows();
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (row_begin(middle) + row_length(middle) > at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

std::int64_t RankPatch::below(std::int64_t at) const noexcept {
    const std::int64_t row = row_behind(at);
    if (row == rows()) {
        return elements_;
    }
    const std::int64_t packed =
        runs_.empty() ? row * row_ : runs_[static_cast<std::size_t>(row)].packed;
    return packed + std::max<std::int64_t>(0, at - row_begin(row));
}

Result<MappedPatch> map_patch(std::int64_t elements, std::span<const std::int64_t> indices) {
    MappedPatch made;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        if (indices[i] >= elements) {
            return refused(
                fmt::format("element {} of the map has the index {}, but the grid has "
                            "{} elements. Correct the map (indices count from 0 in C, "
                            "from 1 in Fortran).",
                            i, indices[i], elements));
        }
        if (indices[i] >= 0) {
            made.order.push_back(static_cast<std::int64_t>(i));
        }
    }
    const auto index_of = [&](std::int64_t position) {
        return indices[static_cast<std::size_t>(position)];
    };
    std::ranges::sort(made.order, {}, index_of);
    std::vector<ArrayRun> runs;
    for (std::size_t i = 0; i < made.order.size(); ++i) {
        const std::int64_t at = index_of(made.order[i]);
        const bool follows = !runs.empty() && at == runs.back().at + runs.back().length;
        if (!runs.empty() && at < runs.back().at + runs.back().length) {
            return refused(
                fmt::format("the map has the index {} twice. Leave one of the two "
                            "elements out by a negative index (in Fortran: 0).",
                            at));
        }
        if (follows) {
            ++runs.back().length;
        } else {
            runs.push_back({at, static_cast<std::int64_t>(i), 1});
        }
    }
    made.patch = RankPatch::of_runs(std::move(runs));
    return made;
}

}  // namespace forebay::output
