// The places of a rank's bytes in a file or in memory: a Cartesian product of runs, one factor per
// axis, walked with the last axis fastest. The order of the walk is the order of the rank's data.
#pragma once

#include "benchmarks/hpio/runs.hpp"

#include <cstdint>
#include <vector>

namespace forebay::hpio {

struct LayoutAxis {
    IndexRuns runs;
    std::int64_t step_bytes = 1;  // distance of adjacent indices

    bool operator==(const LayoutAxis&) const noexcept = default;
};

struct RunProduct {
    std::vector<LayoutAxis> axes;    // outermost first; the innermost axis steps by one element
    std::int64_t element_bytes = 1;  // on the innermost axis

    bool operator==(const RunProduct&) const noexcept = default;

    [[nodiscard]] std::int64_t bytes() const noexcept;
    // One past the last byte; 0 if there is none.
    [[nodiscard]] std::int64_t extent_bytes() const noexcept;
    // The same bytes in the same order, with as few axes as possible.
    [[nodiscard]] RunProduct folded() const;
};

// A contiguous part of a layout.
struct LayoutPiece {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;

    bool operator==(const LayoutPiece&) const noexcept = default;
};

// Iterates over a layout's pieces; it needs memory for two numbers per axis only.
class LayoutWalk {
public:
    explicit LayoutWalk(const RunProduct& layout);

    [[nodiscard]] bool done() const noexcept { return done_; }
    // Contract: !done().
    [[nodiscard]] LayoutPiece piece() const noexcept;
    void next() noexcept;
    // Takes up to `bytes` bytes of the present piece, and moves to the next one at its end.
    LayoutPiece take(std::int64_t bytes) noexcept;

private:
    struct Place {
        std::int64_t run = 0;    // number of the run on its axis
        std::int64_t index = 0;  // within the run; always 0 on the innermost axis
    };

    [[nodiscard]] bool advance(std::size_t axis) noexcept;

    RunProduct layout_;
    std::vector<Place> places_;
    std::int64_t taken_ = 0;
    bool done_ = false;
};

}  // namespace forebay::hpio
