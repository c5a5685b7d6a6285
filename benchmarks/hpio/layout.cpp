// Folds and walks layouts.
#include "benchmarks/hpio/layout.hpp"

#include <utility>

namespace forebay::hpio {

std::int64_t RunProduct::bytes() const noexcept {
    std::int64_t product = element_bytes;
    for (const LayoutAxis& axis : axes) {
        product *= axis.runs.total();
    }
    return product;
}

std::int64_t RunProduct::extent_bytes() const noexcept {
    if (bytes() == 0) {
        return 0;
    }
    std::int64_t last = element_bytes;
    for (const LayoutAxis& axis : axes) {
        const IndexRun run = axis.runs.at(axis.runs.count() - 1);
        last += (run.begin + run.length - 1) * axis.step_bytes;
    }
    return last;
}

RunProduct RunProduct::folded() const {
    RunProduct result{.axes = axes, .element_bytes = element_bytes};
    while (result.axes.size() > 1) {
        const LayoutAxis& inner = result.axes.back();
        LayoutAxis& outer = result.axes[result.axes.size() - 2];
        const bool whole = inner.runs.count() == 1 && inner.runs.first == 0 &&
                           inner.step_bytes == result.element_bytes &&
                           inner.runs.total() * inner.step_bytes == outer.step_bytes;
        if (!whole) {
            break;
        }
        result.element_bytes = outer.step_bytes;
        result.axes.pop_back();
    }
    return result;
}

LayoutWalk::LayoutWalk(const RunProduct& layout)
    : layout_(layout.folded()), places_(layout_.axes.size()) {
    expects(!layout_.axes.empty(), "a layout has an axis");
    expects(layout_.axes.back().step_bytes == layout_.element_bytes,
            "the innermost axis is dense within its runs");
    done_ = layout_.bytes() == 0;
}

LayoutPiece LayoutWalk::piece() const noexcept {
    expects(!done_, "there is a piece");
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < places_.size(); ++axis) {
        const IndexRun run = layout_.axes[axis].runs.at(places_[axis].run);
        offset += (run.begin + places_[axis].index) * layout_.axes[axis].step_bytes;
    }
    const IndexRun last = layout_.axes.back().runs.at(places_.back().run);
    return {offset + taken_, last.length * layout_.element_bytes - taken_};
}

void LayoutWalk::next() noexcept {
    taken_ = 0;
    for (std::size_t axis = places_.size(); axis-- > 0;) {
        if (advance(axis)) {
            return;
        }
    }
    done_ = true;
}

bool LayoutWalk::advance(std::size_t axis) noexcept {
    Place& place = places_[axis];
    const IndexRuns& runs = layout_.axes[axis].runs;
    const bool innermost = axis + 1 == places_.size();
    if (!innermost && ++place.index < runs.at(place.run).length) {
        return true;
    }
    place.index = 0;
    if (++place.run < runs.count()) {
        return true;
    }
    place.run = 0;
    return false;
}

LayoutPiece LayoutWalk::take(std::int64_t bytes) noexcept {
    LayoutPiece now = piece();
    if (now.bytes > bytes) {
        now.bytes = bytes;
        taken_ += bytes;
        return now;
    }
    next();
    return now;
}

}  // namespace forebay::hpio
