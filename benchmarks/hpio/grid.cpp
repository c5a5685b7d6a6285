// Factorises the number of ranks, and maps indices to coordinates.
#include "benchmarks/hpio/grid.hpp"

#include "foundation/base/counted.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace forebay::hpio {

namespace {

// In descending order.
std::vector<std::int32_t> prime_factors(std::int32_t number) {
    std::vector<std::int32_t> factors;
    for (std::int32_t prime = 2; prime <= number / prime; ++prime) {
        while (number % prime == 0) {
            factors.push_back(prime);
            number /= prime;
        }
    }
    if (number > 1) {
        factors.push_back(number);
    }
    std::sort(factors.rbegin(), factors.rend());
    return factors;
}

}  // namespace

Result<std::vector<std::int32_t>> grid_of(const ArrayPattern& array, std::int32_t ranks) {
    std::vector<std::int32_t> grid;
    std::int64_t given = 1;
    for (const ArrayDimension& dimension : array.dimensions) {
        grid.push_back(std::max(dimension.ranks, 1));
        given *= grid.back();
    }
    const bool all = std::none_of(array.dimensions.begin(), array.dimensions.end(),
                                  [](const ArrayDimension& one) { return one.ranks == 0; });
    if (given > ranks || ranks % given != 0 || (all && given != ranks)) {
        return failure({.code = ErrorCode::argument,
                        .message = fmt::format("the grid does not suit {0} (it is for {1}). "
                                               "Give a grid of {0}, or leave it out.",
                                               counted(ranks, "rank"), given)});
    }
    for (const std::int32_t factor : prime_factors(static_cast<std::int32_t>(ranks / given))) {
        std::size_t widest = 0;
        std::int64_t width = -1;
        for (std::size_t at = 0; at < grid.size(); ++at) {
            const std::int64_t now = array.dimensions[at].count / grid[at];
            if (array.dimensions[at].ranks == 0 && now > width) {
                widest = at;
                width = now;
            }
        }
        grid[widest] *= factor;
    }
    return grid;
}

IndexRun block_of(const ArrayDimension& dimension, std::int64_t coordinate) noexcept {
    const std::int64_t begin = dimension.count * coordinate / dimension.ranks;
    const std::int64_t end = dimension.count * (coordinate + 1) / dimension.ranks;
    return {begin, end - begin};
}

std::int64_t coordinate_of(const ArrayDimension& dimension, std::int64_t index) noexcept {
    if (dimension.block > 0) {
        return index / dimension.block % dimension.ranks;
    }
    // The largest coordinate whose block begins at or before `index`.
    return ((index + 1) * dimension.ranks - 1) / dimension.count;
}

}  // namespace forebay::hpio
