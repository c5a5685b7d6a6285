// Which rank writes which elements of an array, and in which portions: a writer has one domain, a
// contiguous part of the array, and works through it in windows, one per round of all writers. And
// the same elements as boxes, which is how netCDF's libraries want to be told of them.
#pragma once

#include "foundation/base/units.hpp"
#include "output/plan/patch.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace forebay::output {

// A domain has at least so many elements (if the array has), so that small arrays have few writers.
inline constexpr std::int64_t domain_elements_min = 128 * 1024;

class WriterDomains {
public:
    WriterDomains() = default;
    // Contracts: elements > 0, 0 < writers_max, domain_min > 0.
    WriterDomains(std::int64_t elements, std::int32_t writers_max,
                  std::int64_t domain_min = domain_elements_min);

    // At most writers_max.
    [[nodiscard]] std::int32_t writers() const noexcept { return writers_; }
    // Empty for a writer that has nothing to write.
    [[nodiscard]] ElementRange domain(std::int32_t writer) const noexcept;
    // Rounds that it takes to write all domains in windows of `window` elements.
    [[nodiscard]] std::int64_t rounds(std::int64_t window) const noexcept;
    // The part of a domain that is written in a round; empty if the domain has ended.
    [[nodiscard]] ElementRange window(std::int32_t writer, std::int64_t round,
                                      std::int64_t window) const noexcept;

private:
    std::int64_t elements_ = 0;
    std::int64_t domain_ = 0;
    std::int32_t writers_ = 0;
};

// The ranks that write: `writers` (at least 1) of `ranks`, spread evenly over them and so over
// nodes.
[[nodiscard]] std::vector<Rank> spread_writers(std::int32_t ranks, std::int32_t writers);

// The elements of `range` as boxes of the array, in ascending order: at most 2·dimensions − 1.
[[nodiscard]] std::vector<ArrayBox> boxes_of(std::span<const std::int64_t> shape,
                                             const ElementRange& range);

// The first rank whose box has elements in common with the box of `rank`.
[[nodiscard]] std::optional<Rank> overlapping(std::span<const ArrayBox> boxes, Rank rank);

// An element that two ranks give.
struct SharedElement {
    std::int64_t at = 0;
    Rank first;
    Rank second;
};
// The first element of `range` that two of the ranks' patches have.
[[nodiscard]] std::optional<SharedElement> shared_element(std::span<const RankPatch> patches,
                                                          const ElementRange& range);

}  // namespace forebay::output
