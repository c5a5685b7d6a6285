// Which ranges of a file may lie in the pools of several nodes, as a rank knows it that has taken
// part in all calls that put them there.
#pragma once

#include "foundation/base/units.hpp"

#include <cstddef>
#include <vector>

namespace forebay::plan {

class UndrainedRanges {
public:
    // More of them become one with the nearest: what lies between then counts, too.
    static constexpr std::size_t ranges_max = 64;

    void add(const Extent& extent);
    [[nodiscard]] bool touches(const Extent& extent) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
    void clear() noexcept { ranges_.clear(); }
    // Ascending; no two touch each other.
    [[nodiscard]] const std::vector<Extent>& ranges() const noexcept { return ranges_; }

private:
    std::vector<Extent> ranges_;
};

}  // namespace forebay::plan
