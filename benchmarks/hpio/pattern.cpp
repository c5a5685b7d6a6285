// Resolves, checks and describes patterns, and derives their layouts.
#include "benchmarks/hpio/pattern.hpp"

#include "benchmarks/hpio/grid.hpp"
#include "foundation/base/counted.hpp"

#include <fmt/format.h>
#include <numeric>

namespace forebay::hpio {

namespace {

Result<void> checked_product(const std::vector<std::int64_t>& factors) {
    std::int64_t product = 1;
    for (const std::int64_t factor : factors) {
        if (__builtin_mul_overflow(product, factor, &product) || product > bytes_max) {
            return failure({.code = ErrorCode::argument,
                            .message = "the pattern is too large (over 1 EiB). Make it smaller."});
        }
    }
    return {};
}

Result<Pattern> checked(const RegionPattern& regions, std::int32_t ranks) {
    if (regions.count < 1 || regions.size_bytes < 1 || regions.spacing_bytes < 0) {
        return failure({.code = ErrorCode::argument,
                        .message = fmt::format(
                            "no such regions (count {}, size {}, spacing {}). Give a count and a "
                            "size of at least 1 and a spacing of at least 0.",
                            regions.count, regions.size_bytes, regions.spacing_bytes)});
    }
    const auto fits = checked_product(
        {regions.count, ranks, std::max(regions.size_bytes, regions.spacing_bytes), 2});
    if (!fits) {
        return failure(fits.error());
    }
    return regions;
}

Result<void> check_dimension(const ArrayDimension& dimension, std::size_t number) {
    const bool inside = dimension.start >= 0 && dimension.count >= 1 && dimension.size >= 1 &&
                        dimension.count <= dimension.size - dimension.start;
    if (!inside) {
        return failure(
            {.code = ErrorCode::argument,
             .message = fmt::format("dimension {} has no such part (start {}, count {} "
                                    "of {}). Keep the part inside the array.",
                                    number, dimension.start, dimension.count, dimension.size)});
    }
    if (dimension.halo < 0 || dimension.block < 0 || dimension.ranks < 0) {
        return failure({.code = ErrorCode::argument,
                        .message = fmt::format("dimension {} has a negative halo, block or number "
                                               "of ranks. Give 0 or more.",
                                               number)});
    }
    return {};
}

Result<Pattern> checked(ArrayPattern array, std::int32_t ranks) {
    if (array.dimensions.empty() || array.dimensions.size() > dimensions_max ||
        array.element_bytes < 1) {
        return failure(
            {.code = ErrorCode::argument,
             .message = fmt::format("no such array ({} dimensions, elements of {} B). "
                                    "Give 1 to {} dimensions and an element of at "
                                    "least 1 B.",
                                    array.dimensions.size(), array.element_bytes, dimensions_max)});
    }
    std::vector<std::int64_t> factors{array.element_bytes};
    for (std::size_t number = 0; number < array.dimensions.size(); ++number) {
        const ArrayDimension& dimension = array.dimensions[number];
        if (auto fine = check_dimension(dimension, number); !fine) {
            return failure(fine.error());
        }
        factors.push_back(dimension.size);
        factors.push_back(dimension.halo > 0 ? 2 * dimension.halo + 1 : 1);
    }
    if (auto fits = checked_product(factors); !fits) {
        return failure(fits.error());
    }
    auto grid = grid_of(array, ranks);
    if (!grid) {
        return failure(grid.error());
    }
    for (std::size_t number = 0; number < grid->size(); ++number) {
        array.dimensions[number].ranks = (*grid)[number];
    }
    return array;
}

// The part of a dimension owned by the rank at `coordinate`, in indices of the file's array.
IndexRuns share_of(const ArrayDimension& dimension, std::int64_t coordinate) noexcept {
    const std::int64_t end = dimension.start + dimension.count;
    if (dimension.block > 0) {
        return {.first = dimension.start + coordinate * dimension.block,
                .length = dimension.block,
                .stride = dimension.block * dimension.ranks,
                .end = end};
    }
    const IndexRun run = block_of(dimension, coordinate);
    return single({dimension.start + run.begin, run.length});
}

RunProduct regions_in_file(const RegionPattern& regions, std::int64_t rank, std::int64_t ranks) {
    if (regions.file == PatternShape::contiguous) {
        const std::int64_t bytes = regions.count * regions.size_bytes;
        return {.axes = {{.runs = single({rank * bytes, bytes}), .step_bytes = 1}},
                .element_bytes = 1};
    }
    const IndexRuns turns{
        .first = rank, .length = 1, .stride = ranks, .end = rank + (regions.count - 1) * ranks + 1};
    return {.axes = {{.runs = turns, .step_bytes = regions.size_bytes + regions.spacing_bytes},
                     {.runs = single({0, regions.size_bytes}), .step_bytes = 1}},
            .element_bytes = 1};
}

RunProduct regions_in_memory(const RegionPattern& regions) {
    if (regions.memory == PatternShape::contiguous) {
        return {
            .axes = {{.runs = single({0, regions.count * regions.size_bytes}), .step_bytes = 1}},
            .element_bytes = 1};
    }
    return {.axes = {{.runs = single({0, regions.count}),
                      .step_bytes = regions.size_bytes + regions.spacing_bytes},
                     {.runs = single({0, regions.size_bytes}), .step_bytes = 1}},
            .element_bytes = 1};
}

// A dimension's runs and size, from which a row-major layout is made.
struct DimensionRuns {
    IndexRuns runs;
    std::int64_t size = 0;
};

RunProduct row_major(const std::vector<DimensionRuns>& lines, std::int64_t element_bytes) {
    RunProduct layout{.axes = std::vector<LayoutAxis>(lines.size()),
                      .element_bytes = element_bytes};
    std::int64_t step = element_bytes;
    for (std::size_t at = lines.size(); at-- > 0;) {
        layout.axes[at] = {.runs = lines[at].runs, .step_bytes = step};
        step *= lines[at].size;
    }
    return layout;
}

}  // namespace

Result<Pattern> resolved(const Pattern& pattern, std::int32_t ranks) {
    expects(ranks > 0, "a job has ranks");
    return std::visit([ranks](const auto& one) { return checked(one, ranks); }, pattern);
}

std::vector<std::int32_t> ResolvedPattern::coordinates(Rank rank) const {
    const ArrayPattern& array = std::get<ArrayPattern>(pattern);
    std::vector<std::int32_t> result(array.dimensions.size());
    std::int32_t rest = rank.value();
    for (std::size_t at = result.size(); at-- > 0;) {
        result[at] = rest % array.dimensions[at].ranks;
        rest /= array.dimensions[at].ranks;
    }
    return result;
}

RunProduct ResolvedPattern::file_layout(Rank rank) const {
    if (const auto* regions = std::get_if<RegionPattern>(&pattern)) {
        return regions_in_file(*regions, rank.value(), ranks);
    }
    const ArrayPattern& array = std::get<ArrayPattern>(pattern);
    const std::vector<std::int32_t> place = coordinates(rank);
    std::vector<DimensionRuns> lines;
    for (std::size_t at = 0; at < place.size(); ++at) {
        const ArrayDimension& dimension = array.dimensions[at];
        lines.push_back({share_of(dimension, place[at]), dimension.size});
    }
    return row_major(lines, array.element_bytes);
}

RunProduct ResolvedPattern::memory_layout(Rank rank) const {
    if (const auto* regions = std::get_if<RegionPattern>(&pattern)) {
        return regions_in_memory(*regions);
    }
    const ArrayPattern& array = std::get<ArrayPattern>(pattern);
    const std::vector<std::int32_t> place = coordinates(rank);
    std::vector<DimensionRuns> lines;
    for (std::size_t at = 0; at < place.size(); ++at) {
        const ArrayDimension& dimension = array.dimensions[at];
        const std::int64_t own = share_of(dimension, place[at]).total();
        lines.push_back({single({dimension.halo, own}), own + 2 * dimension.halo});
    }
    return row_major(lines, array.element_bytes);
}

std::int64_t ResolvedPattern::data_bytes() const {
    if (const auto* regions = std::get_if<RegionPattern>(&pattern)) {
        return regions->count * regions->size_bytes * ranks;
    }
    const ArrayPattern& array = std::get<ArrayPattern>(pattern);
    return std::accumulate(
        array.dimensions.begin(), array.dimensions.end(), array.element_bytes,
        [](std::int64_t product, const ArrayDimension& one) { return product * one.count; });
}

std::int64_t ResolvedPattern::watched_bytes() const {
    if (const auto* regions = std::get_if<RegionPattern>(&pattern)) {
        const std::int64_t gap =
            regions->file == PatternShape::noncontiguous ? regions->spacing_bytes : 0;
        return regions->count * ranks * (regions->size_bytes + gap);
    }
    const ArrayPattern& array = std::get<ArrayPattern>(pattern);
    return std::accumulate(
        array.dimensions.begin(), array.dimensions.end(), array.element_bytes,
        [](std::int64_t product, const ArrayDimension& one) { return product * one.size; });
}

std::string short_name(const Pattern& pattern) {
    const auto* regions = std::get_if<RegionPattern>(&pattern);
    if (regions == nullptr) {
        return "array";
    }
    const auto word = [](PatternShape shape) {
        return shape == PatternShape::contiguous ? "c" : "nc";
    };
    return fmt::format("{}-{}", word(regions->memory), word(regions->file));
}

std::string describe(const Pattern& pattern) {
    if (const auto* regions = std::get_if<RegionPattern>(&pattern)) {
        return fmt::format("{} regions of {} B with gaps of {} B, memory-file {}", regions->count,
                           regions->size_bytes, regions->spacing_bytes, short_name(pattern));
    }
    const ArrayPattern& array = std::get<ArrayPattern>(pattern);
    std::string text = fmt::format("array of {} B elements:", array.element_bytes);
    for (const ArrayDimension& one : array.dimensions) {
        text += fmt::format(" [{}", one.size);
        if (one.count != one.size) {
            text += fmt::format(", part {}+{}", one.start, one.count);
        }
        text += " over " + counted(one.ranks, "rank");
        text += one.block > 0 ? fmt::format(" cyclic by {}", one.block) : std::string(" in blocks");
        text += one.halo > 0 ? fmt::format(", halo {}]", one.halo) : std::string("]");
    }
    return text;
}

}  // namespace forebay::hpio
