// The bytes of a datatype or view as a loop nest instead of a flattened list of pieces: eight
// million pieces are two or three loops here, not eight million pairs. Nests are values: they can
// be copied, compared and printed. Source of the idea: dataloops of Ross, Miller and Gropp,
// "Implementing fast and reusable datatype processing", EuroPVM/MPI 2003.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace forebay::pattern {

// The kinds of loops. A nest is an array of loops; `child` is the index of an earlier entry of the
// same array. Displacements are bytes from the parent's origin.
enum class LoopKind : std::uint8_t {
    run,     // `length` contiguous bytes at displacement 0
    repeat,  // `count` copies of the child, `stride` bytes apart
    list,    // the child at each of displacements[first … first + count)
    each,    // children[first_child + i] at displacements[first + i]
};

// One loop of a nest. Its first byte in stream order is at its displacement 0; `low` may be
// negative. A child precedes its parent in the array.
struct NestLoop {
    LoopKind kind = LoopKind::run;
    std::int32_t child = -1;       // repeat, list
    std::int64_t count = 1;        // repeat, list, each
    std::int64_t stride = 0;       // repeat
    std::int64_t length = 0;       // run
    std::int64_t first = 0;        // list, each: index into displacements()
    std::int64_t first_child = 0;  // each: index into children()
    std::int64_t first_sum = 0;    // each: index into the sampled prefix sums
    std::int64_t size = 0;         // bytes of data in this loop
    std::int64_t pieces = 0;       // number of contiguous runs in this loop
    std::int64_t low = 0;          // true lower bound (MPI's true extent): first byte of data
    std::int64_t high = 0;         // true upper bound: one past the last byte of data
    bool operator==(const NestLoop&) const noexcept = default;
};

inline constexpr std::int64_t sums_every = 8;  // one prefix sum for this many entries of an `each`
inline constexpr std::int64_t granularity_max = std::int64_t{1} << 30;

class NestBuilder;

class Nest {
public:
    Nest();  // no bytes

    // Factories; sizes are in bytes. Contracts: counts and lengths are not negative, and no
    // position overflows 64 bits (callers check untrusted input). All factories normalise: loops
    // with one iteration vanish, adjacent runs are joined, regular lists become repeats, and nested
    // repeats that touch become one.
    static Nest run(std::int64_t length);
    static Nest shifted(const Nest& child, std::int64_t displacement);
    static Nest repeat(const Nest& child, std::int64_t count, std::int64_t stride);
    static Nest list(const Nest& child, std::span<const std::int64_t> displacements);
    static Nest each(std::span<const Nest> children, std::span<const std::int64_t> displacements);
    // As `each` above, with few different children: entry i is palette[which[i]] at
    // displacements[i].
    static Nest each(std::span<const Nest> palette, std::span<const std::int32_t> which,
                     std::span<const std::int64_t> displacements);
    // As MPI's indexed and hindexed: entry i is repeat(unit, counts[i], stride) at
    // displacements[i].
    static Nest blocks(const Nest& unit, std::int64_t stride, std::span<const std::int64_t> counts,
                       std::span<const std::int64_t> displacements);

    [[nodiscard]] std::int64_t size() const noexcept;  // bytes of data
    [[nodiscard]] std::int64_t low() const noexcept;   // first byte of data (0 when empty)
    [[nodiscard]] std::int64_t high() const noexcept;  // first byte of data (0 if empty)
    [[nodiscard]] bool contiguous() const noexcept;    // one run (at any displacement) or empty
    // Data ascends without overlap, which MPI demands of the filetype of a file opened for writing.
    [[nodiscard]] bool ascending() const noexcept;
    // The largest power of two that divides the displacement and the length of every piece (at most
    // granularity_max).
    [[nodiscard]] std::int64_t granularity() const noexcept;
    // The length of the shortest contiguous piece that the loops name (0 if empty).
    [[nodiscard]] std::int64_t shortest_piece() const noexcept;
    [[nodiscard]] int depth() const noexcept;
    // Bytes of memory that this nest takes.
    [[nodiscard]] std::size_t footprint() const noexcept;

    // For ascending nests only: the bytes of data below `displacement`; O(depth · log list).
    [[nodiscard]] std::int64_t bytes_below(std::int64_t displacement) const noexcept;
    // For ascending nests only: the displacement of the first byte of data at or after
    // `displacement`; high() if there is none.
    [[nodiscard]] std::int64_t next_at(std::int64_t displacement) const noexcept;
    // The displacement of data byte number `position` (0 ≤ position < size()).
    [[nodiscard]] std::int64_t displacement_of(std::int64_t position) const noexcept;

    // A text for messages: "repeat 8000000 × 64 B { run 16 B }".
    [[nodiscard]] std::string describe() const;

    bool operator==(const Nest&) const noexcept = default;

    // The entry of an `each` loop that holds data byte `position` of the loop, and the number of
    // data bytes before that entry; O(log entries).
    struct Entry {
        std::int64_t index = 0;
        std::int64_t bytes_before = 0;
    };
    [[nodiscard]] Entry entry_at(const NestLoop& each, std::int64_t position) const noexcept;

    // The representation, for walkers and encoders.
    [[nodiscard]] std::span<const NestLoop> loops() const noexcept { return loops_; }
    [[nodiscard]] std::int32_t root() const noexcept { return root_; }
    // Displacement of the root.
    [[nodiscard]] std::int64_t origin() const noexcept { return origin_; }
    [[nodiscard]] std::span<const std::int64_t> displacements() const noexcept {
        return displacements_;
    }
    [[nodiscard]] std::span<const std::int32_t> children() const noexcept { return children_; }

private:
    friend class NestBuilder;

    [[nodiscard]] std::int64_t bytes_before(const NestLoop& each,
                                            std::int64_t index) const noexcept;
    [[nodiscard]] std::int64_t entry_below(const NestLoop& loop,
                                           std::int64_t displacement) const noexcept;
    [[nodiscard]] std::string describe(std::int32_t loop, int levels) const;

    std::vector<NestLoop> loops_;
    std::vector<std::int64_t> displacements_;
    std::vector<std::int32_t> children_;
    // For `each`: the bytes of data before every eighth entry. So 8 million blocks of different
    // lengths take 13 bytes each, and a search goes over at most seven entries after the binary
    // search.
    std::vector<std::int64_t> sizes_before_;
    std::int32_t root_ = -1;
    std::int64_t origin_ = 0;
};

}  // namespace forebay::pattern
