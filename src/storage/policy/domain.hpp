// File domains: which bytes of the file an aggregator is responsible for. The targets of one
// aggregator are neighbours in the stripe order, so its domain is a contiguous run of stripes in
// each cycle of the layout: a loop, not a list. Bytes of a domain are also numbered without the
// gaps (linear positions): windows are ranges of those.
// Source: EARTH (Tsujita et al., 2015) for aggregators by stripe layout; any stripe count works.
#pragma once

#include "foundation/base/units.hpp"
#include "storage/policy/tuning.hpp"

#include <cstdint>

namespace forebay::plan {

class Domain {
public:
    // All of the file.
    Domain() = default;
    // The stripes of targets [first_target, first_target + targets) of `layout`.
    Domain(const FileStripes& layout, std::int32_t first_target, std::int32_t targets);

    // The bytes [begin, begin + length).
    [[nodiscard]] static Domain run(Offset begin, Length length) noexcept;

    // Bytes of the domain below `offset`.
    [[nodiscard]] std::int64_t linear_at(Offset offset) const noexcept;
    // File offset of linear position `linear`.
    [[nodiscard]] Offset offset_at(std::int64_t linear) const noexcept;
    // Linear positions from `linear` on that are contiguous in the file.
    [[nodiscard]] std::int64_t contiguous_from(std::int64_t linear) const noexcept;

private:
    std::int64_t start_ = 0;  // of the run in each cycle
    std::int64_t run_ = 0;    // 0: the whole file
    std::int64_t period_ = 0;
};

// The target that holds `offset`.
[[nodiscard]] TargetId target_at(const FileStripes& layout, Offset offset) noexcept;
// Bytes from `offset` to the end of its stripe; unbounded where there are no stripes.
[[nodiscard]] std::int64_t rest_of_stripe(const FileStripes& layout, Offset offset) noexcept;

}  // namespace forebay::plan
