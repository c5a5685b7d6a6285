// Tells the ranks each other's boxes, or each writer the runs of its domain; refuses patches that
// overlap.
#include "output/mpi/rank_grid.hpp"

#include "output/mpi/agreement.hpp"

#include <fmt/format.h>
#include <limits>
#include <utility>

namespace forebay::output {
namespace {

Error overlap_error(std::int64_t at, Rank first, Rank second) {
    return Error{ErrorCode::argument, 0,
                 fmt::format("the patches of rank {} and rank {} overlap (both have element {} of "
                             "the grid). Give each element once, and leave halos out by `halo`.",
                             first.value(), second.value(), at)};
}

Result<std::int64_t> agreed_elements(MPI_Comm comm, std::span<const std::int64_t> shape) {
    if (Result<void> same =
            same_on_all(comm, fmt::format("shape {}", fmt::join(shape, "×")), "the grid");
        !same) {
        return tl::unexpected(same.error());
    }
    return elements_of(shape);  // the same on all ranks
}

bool has_gaps(MPI_Comm comm, std::int64_t mine, std::int64_t elements) {
    std::int64_t all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, comm);
    return all < elements;
}

// The boxes of all ranks.
std::vector<ArrayBox> gathered(MPI_Comm comm, const ArrayBox& mine) {
    const std::size_t dimensions = mine.start.size();
    std::vector<std::int64_t> sent(mine.start);
    sent.insert(sent.end(), mine.count.begin(), mine.count.end());
    std::vector<std::int64_t> all(sent.size() * static_cast<std::size_t>(ranks_of(comm)));
    const auto count = static_cast<int>(sent.size());
    PMPI_Allgather(sent.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, comm);
    std::vector<ArrayBox> made;
    for (auto at = all.begin(); at != all.end(); at += count) {
        const auto middle = at + static_cast<std::ptrdiff_t>(dimensions);
        made.push_back({{at, middle}, {middle, at + count}});
    }
    return made;
}

Result<void> no_overlap(std::span<const ArrayBox> boxes, std::span<const std::int64_t> shape,
                        Rank rank) {
    const std::optional<Rank> other = overlapping(boxes, rank);
    if (!other) {
        return {};
    }
    std::int64_t at = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        at = at * shape[i] +
             std::max(boxes[rank.position()].start[i], boxes[other->position()].start[i]);
    }
    return failure(overlap_error(at, rank, *other));
}

// Runs as they are sent: where a run begins, and its length.
struct SentRun {
    std::int64_t at;
    std::int64_t length;
};

// The runs of this rank's patch that lie in each writer's domain, and their number by rank.
std::vector<SentRun> runs_to_send(const WriterSet& writers, const RankGrid& grid,
                                  std::vector<int>& counts) {
    std::vector<SentRun> made;
    for (std::int32_t writer = 0; writer < grid.domains.writers(); ++writer) {
        const std::size_t before = made.size();
        grid.mine.each_run(grid.domains.domain(writer),
                           [&](const ArrayRun& run) { made.push_back({run.at, run.length}); });
        counts[writers.ranks[static_cast<std::size_t>(writer)].position()] =
            static_cast<int>(made.size() - before);
    }
    return made;
}

std::vector<int> sums_before(std::span<const int> counts) {
    std::vector<int> made;
    int sum = 0;
    for (const int count : counts) {
        made.push_back(sum);
        sum += count;
    }
    return made;
}

// Collective: each writer gets the runs of all ranks that lie in its domain.
void exchange_runs(const WriterSet& writers, RankGrid& grid) {
    const auto ranks = static_cast<std::size_t>(ranks_of(writers.comm));
    std::vector<int> sent(ranks);
    std::vector<int> received(ranks);
    const std::vector<SentRun> mine = runs_to_send(writers, grid, sent);
    PMPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, writers.comm);
    const std::vector<int> sent_at = sums_before(sent);
    const std::vector<int> received_at = sums_before(received);
    std::vector<SentRun> all(static_cast<std::size_t>(received_at.back() + received.back()));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(2, MPI_INT64_T, &type);
    PMPI_Type_commit(&type);
    PMPI_Alltoallv(mine.data(), sent.data(), sent_at.data(), type, all.data(), received.data(),
                   received_at.data(), type, writers.comm);
    PMPI_Type_free(&type);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::vector<ArrayRun> runs;
        std::int64_t packed = 0;
        for (int i = 0; i < received[rank]; ++i) {
            const SentRun& run = all[static_cast<std::size_t>(received_at[rank] + i)];
            runs.push_back({run.at, packed, run.length});
            packed += run.length;
        }
        grid.patches.push_back(RankPatch::of_runs(std::move(runs)));
    }
}

}  // namespace

Result<RankGrid> make_box_grid(const WriterSet& writers, const BoxArguments& arguments,
                               ElementSharing sharing) {
    const Result<std::int64_t> elements = agreed_elements(writers.comm, arguments.shape);
    if (!elements) {
        return tl::unexpected(elements.error());
    }
    RankGrid grid;
    grid.shape.assign(arguments.shape.begin(), arguments.shape.end());
    grid.domains = WriterDomains(*elements, static_cast<std::int32_t>(writers.ranks.size()));
    const Result<RankPatch> mine = RankPatch::box(grid.shape, arguments.box);
    const Result<LocalArray> local =
        mine ? LocalArray::with_halo(arguments.box.count, arguments.halo) : LocalArray{};
    Result<void> good = !mine    ? Result<void>(tl::unexpected(mine.error()))
                        : !local ? Result<void>(tl::unexpected(local.error()))
                                 : Result<void>{};
    if (good = agreed(writers.comm, good); !good) {
        return tl::unexpected(good.error());
    }
    grid.mine = *mine;
    grid.local = *local;
    const std::vector<ArrayBox> boxes = gathered(writers.comm, arguments.box);
    if (sharing == ElementSharing::refused) {
        const Rank rank{rank_in(writers.comm)};
        if (good = agreed(writers.comm, no_overlap(boxes, grid.shape, rank)); !good) {
            return tl::unexpected(good.error());
        }
    }
    for (const ArrayBox& box : boxes) {
        grid.patches.push_back(*RankPatch::box(grid.shape, box));
    }
    grid.has_gaps = has_gaps(writers.comm, grid.mine.elements(), *elements);
    return grid;
}

Result<RankGrid> make_map_grid(const WriterSet& writers, std::span<const std::int64_t> shape,
                               std::span<const std::int64_t> indices, ElementSharing sharing) {
    const Result<std::int64_t> elements = agreed_elements(writers.comm, shape);
    if (!elements) {
        return tl::unexpected(elements.error());
    }
    Result<MappedPatch> mapped = map_patch(*elements, indices);
    Result<void> good = mapped ? Result<void>{} : tl::unexpected(mapped.error());
    // The exchange counts runs in an int.
    constexpr std::size_t indices_max = std::numeric_limits<int>::max();
    if (good && indices.size() > indices_max) {
        good = failure(Error{ErrorCode::unsupported, 0,
                             "the map of this rank has more than 2^31 elements. Use more ranks."});
    }
    if (good = agreed(writers.comm, good); !good) {
        return tl::unexpected(good.error());
    }
    RankGrid grid;
    grid.shape.assign(shape.begin(), shape.end());
    grid.domains = WriterDomains(*elements, static_cast<std::int32_t>(writers.ranks.size()));
    grid.mine = std::move(mapped->patch);
    grid.local =
        LocalArray::mapped(static_cast<std::int64_t>(indices.size()), std::move(mapped->order));
    exchange_runs(writers, grid);
    if (writers.writes() && sharing == ElementSharing::refused) {
        if (const auto shared = shared_element(grid.patches, grid.domains.domain(writers.mine))) {
            good = failure(overlap_error(shared->at, shared->first, shared->second));
        }
    }
    if (good = agreed(writers.comm, good); !good) {
        return tl::unexpected(good.error());
    }
    grid.has_gaps = has_gaps(writers.comm, grid.mine.elements(), *elements);
    return grid;
}

}  // namespace forebay::output
