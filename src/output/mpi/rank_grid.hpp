// A grid of a file: how its elements lie with the ranks, and who writes them.
#pragma once

#include "foundation/base/result.hpp"
#include "output/plan/local_array.hpp"
#include "output/plan/patch.hpp"
#include "output/plan/writer_domains.hpp"

#include <cstdint>
#include <mpi.h>
#include <span>
#include <vector>

namespace forebay::output {

// The ranks of a file that write (or read) it, and this rank's number among them.
struct WriterSet {
    MPI_Comm comm = MPI_COMM_NULL;  // of all ranks of the file
    std::vector<Rank> ranks;
    std::int32_t mine = -1;  // -1: this rank is none

    [[nodiscard]] bool writes() const noexcept { return mine >= 0; }
};

// Whether two ranks may have the same element: those who only read may.
enum class ElementSharing : std::uint8_t { refused, allowed };

struct BoxArguments {
    std::span<const std::int64_t> shape;
    ArrayBox box;
    std::span<const std::int64_t> halo;
};

struct RankGrid {
    std::vector<std::int64_t> shape;
    WriterDomains domains;
    LocalArray local;
    RankPatch mine;
    // By rank. Boxes are known whole on every rank, maps only on writers, and there only what lies
    // in the writer's own domain; else empty.
    std::vector<RankPatch> patches;
    bool has_gaps = false;

    [[nodiscard]] const RankPatch& patch(Rank rank) const { return patches[rank.position()]; }
};

// Both are collective over all ranks of the file, with the same outcome on all.
[[nodiscard]] Result<RankGrid> make_box_grid(const WriterSet& writers,
                                             const BoxArguments& arguments, ElementSharing sharing);
[[nodiscard]] Result<RankGrid> make_map_grid(const WriterSet& writers,
                                             std::span<const std::int64_t> shape,
                                             std::span<const std::int64_t> indices,
                                             ElementSharing sharing);

}  // namespace forebay::output
