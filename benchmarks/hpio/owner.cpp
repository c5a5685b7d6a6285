// The inverse of layouts: from a byte of the file to the rank that writes it. Written independently
// of them, so that each checks the other (pattern_test.cpp compares them byte by byte).
#include "benchmarks/hpio/grid.hpp"
#include "benchmarks/hpio/pattern.hpp"

#include <algorithm>

namespace forebay::hpio {

namespace {

ByteOwner owner_of_regions(const RegionPattern& regions, std::int32_t ranks, std::int64_t offset) {
    if (regions.file == PatternShape::contiguous) {
        const std::int64_t mine = regions.count * regions.size_bytes;
        return {Rank{static_cast<std::int32_t>(offset / mine)}, mine - offset % mine};
    }
    const std::int64_t period = regions.size_bytes + regions.spacing_bytes;
    const std::int64_t within = offset % period;
    if (within >= regions.size_bytes) {
        return {std::nullopt, period - within};
    }
    return {Rank{static_cast<std::int32_t>(offset / period % ranks)}, regions.size_bytes - within};
}

// The number of indices from `index` on, within the written part, that have the same coordinate.
std::int64_t same_coordinate(const ArrayDimension& dimension, std::int64_t index) noexcept {
    const std::int64_t left = dimension.count - index;
    if (dimension.block > 0) {
        return std::min(left, dimension.block - index % dimension.block);
    }
    const IndexRun block = block_of(dimension, coordinate_of(dimension, index));
    return std::min(left, block.begin + block.length - index);
}

// The number of indices until the part begins, or until the dimension ends if the part is over.
std::int64_t until_part(const ArrayDimension& dimension, std::int64_t index) noexcept {
    return index < dimension.start ? dimension.start - index : dimension.size - index;
}

bool in_part(const ArrayDimension& dimension, std::int64_t index) noexcept {
    return index >= dimension.start && index < dimension.start + dimension.count;
}

ByteOwner owner_in_array(const ArrayPattern& array, std::int64_t offset) {
    const std::int64_t within = offset % array.element_bytes;
    std::int64_t rest = offset / array.element_bytes;
    std::int64_t rank = 0;
    std::int64_t weight = 1;
    std::int64_t run = 1;
    bool owned = true;
    for (std::size_t at = array.dimensions.size(); at-- > 0;) {
        const ArrayDimension& dimension = array.dimensions[at];
        const std::int64_t index = rest % dimension.size;
        rest /= dimension.size;
        const bool innermost = at + 1 == array.dimensions.size();
        if (!in_part(dimension, index)) {
            owned = false;
            run = innermost ? until_part(dimension, index) : run;
            continue;
        }
        const std::int64_t own = index - dimension.start;
        run = innermost ? same_coordinate(dimension, own) : run;
        rank += weight * coordinate_of(dimension, own);
        weight *= dimension.ranks;
    }
    const std::int64_t bytes = run * array.element_bytes - within;
    if (!owned) {
        return {std::nullopt, bytes};
    }
    return {Rank{static_cast<std::int32_t>(rank)}, bytes};
}

}  // namespace

ByteOwner owner_at(const ResolvedPattern& job, std::int64_t offset) {
    if (const auto* regions = std::get_if<RegionPattern>(&job.pattern)) {
        return owner_of_regions(*regions, job.ranks, offset);
    }
    return owner_in_array(std::get<ArrayPattern>(job.pattern), offset);
}

}  // namespace forebay::hpio
