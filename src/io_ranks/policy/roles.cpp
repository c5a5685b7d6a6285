// Groups, and portions of a group, are cut where ⌊number · whole / parts⌋ says: their sizes differ
// by one at most.
#include "io_ranks/policy/roles.hpp"

namespace forebay::io_ranks {

namespace {

struct EvenParts {
    std::int32_t whole = 0;
    std::int32_t parts = 1;

    [[nodiscard]] std::int32_t begin(std::int32_t number) const noexcept {
        return static_cast<std::int32_t>(std::int64_t{number} * whole / parts);
    }
    // The number of the part that has `at`.
    [[nodiscard]] std::int32_t part_of(std::int32_t at) const noexcept {
        const auto number = (std::int64_t{at} + 1) * parts - 1;
        return static_cast<std::int32_t>(number / whole);
    }
};

}  // namespace

ShapeFault fault_of(const WorldShape& world) noexcept {
    if (world.io_ranks < 1 || world.spread < 1) {
        return ShapeFault::no_io_ranks;
    }
    if (world.io_ranks % world.spread != 0) {
        return ShapeFault::uneven_spread;
    }
    const std::int32_t smallest = world.ranks / world.spread;
    if (smallest < std::int64_t{2} * (world.io_ranks / world.spread)) {
        return ShapeFault::too_few_ranks;
    }
    return ShapeFault::none;
}

const char* text_of(ShapeFault fault) noexcept {
    switch (fault) {
        case ShapeFault::no_io_ranks: return "there has to be at least one I/O rank and one group";
        case ShapeFault::uneven_spread: return "the I/O ranks cannot be spread evenly";
        case ShapeFault::too_few_ranks:
            return "there would be fewer ranks for the program than I/O ranks, in all or in a "
                   "group";
        default: return "";
    }
}

RankRole role_of(const WorldShape& world, std::int32_t rank) noexcept {
    const EvenParts groups{world.ranks, world.spread};
    const std::int32_t per_group = world.io_ranks / world.spread;
    const std::int32_t group = groups.part_of(rank);
    const std::int32_t begin = groups.begin(group);
    const std::int32_t first_io = groups.begin(group + 1) - per_group;
    const EvenParts served{first_io - begin, per_group};
    RankRole role;
    if (rank < first_io) {
        role.number = rank - group * per_group;
        role.server = first_io + served.part_of(rank - begin);
        return role;
    }
    const std::int32_t here = rank - first_io;
    role.kind = RoleKind::io;
    role.number = group * per_group + here;
    role.server = rank;
    role.first_served = begin + served.begin(here);
    role.served = served.begin(here + 1) - served.begin(here);
    return role;
}

}  // namespace forebay::io_ranks
