// The ranges of a file that may lie undrained (dirty) in the pools of several nodes. Each rank
// keeps them by itself, since it has taken part in all calls that deposited bytes.
#pragma once

#include "foundation/base/units.hpp"

#include <cstddef>
#include <vector>

namespace forebay::plan {

class UndrainedRanges {
public:
    // If there are more ranges, the two nearest become one, and the bytes between them count as
    // undrained, too.
    static constexpr std::size_t ranges_max = 64;

    void add(const Extent& extent);
    [[nodiscard]] bool touches(const Extent& extent) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
    void clear() noexcept { ranges_.clear(); }
    // Ascending; no two ranges overlap or touch each other.
    [[nodiscard]] const std::vector<Extent>& ranges() const noexcept { return ranges_; }

private:
    std::vector<Extent> ranges_;
};

}  // namespace forebay::plan
