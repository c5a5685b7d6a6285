// Sends each rank's part of a window to its writer in one message, and for reads the other way
// round. A writer puts the parts into place.
#include "output/mpi/exchange.hpp"

#include "output/mpi/agreement.hpp"

#include <algorithm>
#include <cstring>

namespace forebay::output {
namespace {

constexpr int window_tag = 1;

}  // namespace

PatchExchange::PatchExchange(const WriterSet& writers, const RankGrid& grid, ElementType type,
                             WindowBuffers& buffers)
    : writers_(writers),
      grid_(grid),
      buffers_(buffers),
      type_(type),
      element_bytes_(static_cast<std::int64_t>(bytes_of(type))),
      window_(buffers.window_bytes / element_bytes_),
      rounds_(grid.domains.rounds(window_)) {}

ElementRange PatchExchange::my_window(std::int64_t round) const {
    return grid_.domains.window(writers_.mine, round, window_);
}

// Calls use(writer's rank, range of this rank's packed elements) for each writer whose window has
// some of them.
template <class Use>
void PatchExchange::each_slice(std::int64_t round, Use use) const {
    for (std::int32_t writer = 0; writer < grid_.domains.writers(); ++writer) {
        const ElementRange slice =
            grid_.mine.packed_in(grid_.domains.window(writer, round, window_));
        if (!slice.empty()) {
            use(writers_.ranks[static_cast<std::size_t>(writer)], slice);
        }
    }
}

std::vector<PatchExchange::StagedPart> PatchExchange::parts_of(const ElementRange& window) {
    std::vector<StagedPart> parts;
    std::size_t at = 0;
    for (std::size_t i = 0; i < grid_.patches.size(); ++i) {
        const std::int64_t elements = grid_.patches[i].packed_in(window).length();
        if (elements > 0) {
            const auto bytes = static_cast<std::size_t>(elements * element_bytes_);
            parts.push_back({Rank{static_cast<std::int32_t>(i)}, at, bytes});
            at += bytes;
        }
    }
    buffers_.staged.resize(std::max(buffers_.staged.size(), at));
    buffers_.image.resize(static_cast<std::size_t>(window.length() * element_bytes_));
    return parts;
}

void PatchExchange::fill(std::span<std::byte> window) const {
    const FillValue value = fill_value_of(type_);
    for (std::size_t at = 0; at < window.size(); at += static_cast<std::size_t>(element_bytes_)) {
        std::memcpy(&window[at], value.data(), static_cast<std::size_t>(element_bytes_));
    }
}

void PatchExchange::scatter(const StagedPart& part, const ElementRange& range,
                            std::span<std::byte> window) {
    const RankPatch& patch = grid_.patch(part.rank);
    const std::int64_t first = patch.packed_in(range).begin;
    const std::byte* staged = buffers_.staged.data() + part.at;
    patch.each_run(range, [&](const ArrayRun& run) {
        std::memcpy(window.data() + (run.at - range.begin) * element_bytes_,
                    staged + (run.packed - first) * element_bytes_,
                    static_cast<std::size_t>(run.length * element_bytes_));
    });
}

void PatchExchange::gather(const StagedPart& part, const ElementRange& range,
                           std::span<const std::byte> window) {
    const RankPatch& patch = grid_.patch(part.rank);
    const std::int64_t first = patch.packed_in(range).begin;
    std::byte* staged = buffers_.staged.data() + part.at;
    patch.each_run(range, [&](const ArrayRun& run) {
        std::memcpy(staged + (run.packed - first) * element_bytes_,
                    window.data() + (run.at - range.begin) * element_bytes_,
                    static_cast<std::size_t>(run.length * element_bytes_));
    });
}

void PatchExchange::to_writers(std::span<const std::byte> packed, const std::vector<bool>& given,
                               const WriteWindow& write) {
    const auto me = static_cast<std::size_t>(rank_in(writers_.comm));
    for (std::int64_t round = 0; round < rounds_; ++round) {
        std::vector<MPI_Request> receives;
        std::vector<MPI_Request> sends;
        std::vector<StagedPart> parts;
        const ElementRange window = writers_.writes() ? my_window(round) : ElementRange{};
        if (writers_.writes()) {
            parts = parts_of(window);
            std::erase_if(parts,
                          [&](const StagedPart& part) { return !given[part.rank.position()]; });
            for (const StagedPart& part : parts) {
                receives.emplace_back();
                PMPI_Irecv(buffers_.staged.data() + part.at, static_cast<int>(part.bytes), MPI_BYTE,
                           part.rank.value(), window_tag, writers_.comm, &receives.back());
            }
        }
        if (given[me]) {
            each_slice(round, [&](Rank writer, const ElementRange& slice) {
                sends.emplace_back();
                PMPI_Isend(packed.data() + slice.begin * element_bytes_,
                           static_cast<int>(slice.length() * element_bytes_), MPI_BYTE,
                           writer.value(), window_tag, writers_.comm, &sends.back());
            });
        }
        if (writers_.writes()) {
            if (grid_.has_gaps || std::ranges::find(given, false) != given.end()) {
                fill(buffers_.image);
            }
            for (std::size_t left = parts.size(); left > 0; --left) {
                int done = 0;
                PMPI_Waitany(static_cast<int>(receives.size()), receives.data(), &done,
                             MPI_STATUS_IGNORE);
                scatter(parts[static_cast<std::size_t>(done)], window, buffers_.image);
            }
        }
        PMPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
        if (writers_.writes()) {
            write(window, buffers_.image);
        }
    }
}

void PatchExchange::from_readers(std::span<std::byte> packed, const ReadWindow& read) {
    for (std::int64_t round = 0; round < rounds_; ++round) {
        std::vector<MPI_Request> requests;
        each_slice(round, [&](Rank reader, const ElementRange& slice) {
            requests.emplace_back();
            PMPI_Irecv(packed.data() + slice.begin * element_bytes_,
                       static_cast<int>(slice.length() * element_bytes_), MPI_BYTE, reader.value(),
                       window_tag, writers_.comm, &requests.back());
        });
        if (writers_.writes()) {
            const ElementRange window = my_window(round);
            const std::vector<StagedPart> parts = parts_of(window);
            read(window, buffers_.image);
            for (const StagedPart& part : parts) {
                gather(part, window, buffers_.image);
                requests.emplace_back();
                PMPI_Isend(buffers_.staged.data() + part.at, static_cast<int>(part.bytes), MPI_BYTE,
                           part.rank.value(), window_tag, writers_.comm, &requests.back());
            }
        }
        PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
}

}  // namespace forebay::output
