// Builds the nest dimension by dimension, from the fastest to the slowest.
#include "collective/mpi/darray.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace forebay::interposer {

namespace {

using pattern::Nest;

// One dimension: `size` elements that are dealt out in blocks of `block` to `processes`, of which
// this one is at `coordinate`.
struct DistributedDimension {
    std::int64_t size = 0;
    std::int64_t block = 0;
    std::int64_t processes = 1;
    std::int64_t coordinate = 0;
};

DistributedDimension dealt(std::int64_t size, std::int64_t kind, std::int64_t argument,
                           std::int64_t processes, std::int64_t coordinate) {
    if (kind == MPI_DISTRIBUTE_NONE) {
        return {size, size, 1, 0};
    }
    const bool standard = argument == MPI_DISTRIBUTE_DFLT_DARG;
    if (kind == MPI_DISTRIBUTE_CYCLIC) {
        return {size, standard ? 1 : argument, processes, coordinate};
    }
    return {size, standard ? (size + processes - 1) / processes : argument, processes, coordinate};
}

// The elements of `dimension` that belong to this process; neighbours are `stride` bytes apart.
Nest part(const DistributedDimension& dimension, const Nest& child, std::int64_t stride) {
    const std::int64_t first = dimension.coordinate * dimension.block;
    if (dimension.size <= 0 || first >= dimension.size) {
        return {};
    }
    const std::int64_t cycle = dimension.block * dimension.processes;
    const std::int64_t rest = dimension.size - first;
    const std::int64_t whole = rest / cycle + (rest % cycle >= dimension.block ? 1 : 0);
    // Elements of a block that the end of the array cuts short.
    const std::int64_t last = rest - whole * cycle;
    const Nest full =
        Nest::repeat(Nest::repeat(child, dimension.block, stride), whole, cycle * stride);
    if (last <= 0) {
        return Nest::shifted(full, first * stride);
    }
    const std::array children{full, Nest::repeat(child, last, stride)};
    const std::array<std::int64_t, 2> at{first * stride, (first + whole * cycle) * stride};
    return Nest::each(children, at);
}

// The coordinates of process `rank` in the grid, which is row-major whatever the order of the
// array.
std::vector<std::int64_t> coordinates(std::int64_t rank, const std::vector<std::int64_t>& grid) {
    std::vector<std::int64_t> at(grid.size());
    for (std::size_t d = grid.size(); d-- > 0;) {
        at[d] = rank % grid[d];
        rank /= grid[d];
    }
    return at;
}

}  // namespace

Nest darray(TypeEnvelope& envelope, const DecodedType& child) {
    static_cast<void>(envelope.integer());  // processes: the product of the grid
    const std::int64_t rank = envelope.integer();
    const std::int64_t dimensions = envelope.integer();
    const auto sizes = envelope.counts(dimensions);
    const auto kinds = envelope.integers(dimensions);
    const auto arguments = envelope.integers(dimensions);
    const auto grid = envelope.integers(dimensions);
    const bool row_major = envelope.integer() == MPI_ORDER_C;
    const auto at = coordinates(rank, grid);
    Nest nest = child.nest;
    std::int64_t stride = child.extent;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t d = row_major ? sizes.size() - 1 - i : i;
        nest = part(dealt(sizes[d], kinds[d], arguments[d], grid[d], at[d]), nest, stride);
        stride *= sizes[d];
    }
    return nest;
}

}  // namespace forebay::interposer
