// Which ranks of an MPI world are I/O ranks, which are left to the program, and which I/O rank
// serves whom. Every rank computes the same from the size of the world, so that nobody has to be
// told. The rule is that of the overlapped storage of 2019: the world is cut into `spread` groups
// of consecutive ranks, and the last ranks of each group are I/O ranks.
#pragma once

#include <cstdint>

namespace forebay::io_ranks {

// The size of the world, how many of its ranks are I/O ranks, and over how many groups of ranks
// these are spread.
struct WorldShape {
    std::int32_t ranks = 0;
    std::int32_t io_ranks = 0;
    std::int32_t spread = 1;
};

enum class ShapeFault {
    none,
    no_io_ranks,    // fewer than one I/O rank, or fewer than one group
    uneven_spread,  // the I/O ranks cannot be divided evenly among the groups
    too_few_ranks,  // some group would have fewer ranks for the program than I/O ranks
};

[[nodiscard]] ShapeFault fault_of(const WorldShape& world) noexcept;

// The reason in words, for "problem (why)"; empty for `none`.
[[nodiscard]] const char* text_of(ShapeFault fault) noexcept;

enum class RoleKind { compute, io };

// `number` counts the ranks of the same kind, in the order of the world: of a compute rank, it is
// the rank that the program sees.
struct RankRole {
    RoleKind kind = RoleKind::compute;
    std::int32_t number = 0;
    // The world's rank of the I/O rank that serves this compute rank; its own of an I/O rank.
    std::int32_t server = 0;
    // The world's ranks that this I/O rank serves, which are consecutive; none of a compute rank.
    std::int32_t first_served = 0;
    std::int32_t served = 0;
};

// Contract: the shape has no fault, and 0 <= rank < world.ranks.
[[nodiscard]] RankRole role_of(const WorldShape& world, std::int32_t rank) noexcept;

// The number of ranks that the program sees. Contract: the shape has no fault.
[[nodiscard]] constexpr std::int32_t compute_ranks(const WorldShape& world) noexcept {
    return world.ranks - world.io_ranks;
}

}  // namespace forebay::io_ranks
