// The transposition: patches of ranks to contiguous windows of writers, and back. All ranks go
// through the same rounds; in each, every writer has one window, and what a rank has of it is one
// message, since packed elements are in the order of the file. Memory is bounded: a writer has one
// window and what comes for it.
#pragma once

#include "output/mpi/rank_grid.hpp"
#include "output/plan/element_type.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace forebay::output {

// The memory of a writer, kept from one variable to the next.
struct WindowBuffers {
    std::int64_t window_bytes = 0;  // the most that `image` has
    std::vector<std::byte> image;   // a window of the array
    std::vector<std::byte> staged;  // the ranks' parts of it, one behind the other
};

class PatchExchange {
public:
    // The arguments outlive the object.
    PatchExchange(const WriterSet& writers, const RankGrid& grid, ElementType type,
                  WindowBuffers& buffers);

    // On a writer: takes a window of the array; the range is empty where its domain has ended.
    using WriteWindow = std::function<void(const ElementRange&, std::span<const std::byte>)>;
    using ReadWindow = std::function<void(const ElementRange&, std::span<std::byte>)>;

    // Collective over all ranks of the file. `packed`: this rank's elements. given[r]: whether rank
    // r gives its elements; those of the others, and of no rank, have the fill value. Writers call
    // `write` equally often.
    void to_writers(std::span<const std::byte> packed, const std::vector<bool>& given,
                    const WriteWindow& write);
    // Collective. Writers call `read` equally often; `packed` is then filled.
    void from_readers(std::span<std::byte> packed, const ReadWindow& read);

private:
    // A rank's elements of a window: where they lie in what was received.
    struct StagedPart {
        Rank rank;
        std::size_t at = 0;
        std::size_t bytes = 0;
    };

    [[nodiscard]] ElementRange my_window(std::int64_t round) const;
    [[nodiscard]] std::vector<StagedPart> parts_of(const ElementRange& window);
    void fill(std::span<std::byte> window) const;
    void scatter(const StagedPart& part, const ElementRange& range, std::span<std::byte> window);
    void gather(const StagedPart& part, const ElementRange& range,
                std::span<const std::byte> window);
    template <class Use>
    void each_slice(std::int64_t round, Use use) const;

    const WriterSet& writers_;
    const RankGrid& grid_;
    WindowBuffers& buffers_;
    ElementType type_;
    std::int64_t element_bytes_;
    std::int64_t window_;  // elements
    std::int64_t rounds_;
};

}  // namespace forebay::output
