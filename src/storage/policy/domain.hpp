// File domains of two-phase I/O: the bytes of the file for which an aggregator is responsible. The
// targets of one aggregator are adjacent in stripe order, so its domain is one contiguous run of
// stripes in each cycle of the layout: a loop, not a list. Linear positions number the bytes of a
// domain without the gaps between its runs; windows are ranges of linear positions.
// Source: EARTH (Tsujita et al., 2015) for aggregators by stripe layout; any stripe count works
// here.
#pragma once

#include "foundation/base/units.hpp"
#include "storage/policy/tuning.hpp"

#include <cstdint>

namespace forebay::plan {

class Domain {
public:
    // The whole file.
    Domain() = default;
    // The stripes on the targets [first_target, first_target + targets) of `layout`.
    Domain(const FileStripes& layout, std::int32_t first_target, std::int32_t targets);

    // One run of bytes, [begin, begin + length).
    [[nodiscard]] static Domain run(Offset begin, Length length) noexcept;

    // The number of the domain's bytes below `offset`.
    [[nodiscard]] std::int64_t linear_at(Offset offset) const noexcept;
    // The file offset of linear position `linear`.
    [[nodiscard]] Offset offset_at(std::int64_t linear) const noexcept;
    // How many bytes from linear position `linear` on are contiguous in the file.
    [[nodiscard]] std::int64_t contiguous_from(std::int64_t linear) const noexcept;

private:
    std::int64_t start_ = 0;  // offset of the run in each cycle
    std::int64_t run_ = 0;    // length of a run in bytes; 0: the domain is the whole file
    std::int64_t period_ = 0;
};

// The target that holds the byte at `offset`.
[[nodiscard]] TargetId target_at(const FileStripes& layout, Offset offset) noexcept;
// Bytes from `offset` to the next stripe boundary; unbounded without striping.
[[nodiscard]] std::int64_t rest_of_stripe(const FileStripes& layout, Offset offset) noexcept;

}  // namespace forebay::plan
