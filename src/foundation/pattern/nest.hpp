// A request's bytes, kept as a loop nest: an MPI datatype of eight million pieces is two or three
// nodes here, not eight million pairs. Nests are values: they copy, compare and print. Source of
// the idea: dataloops of Ross, Miller and Gropp, "Implementing fast and reusable datatype
// processing", EuroPVM/MPI 2003.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace forebay::pattern {

// One loop of a nest. A nest is an array of loops; `child` points to a later or earlier entry of
// the same array. Displacements are bytes from the parent's origin.
enum class LoopKind : std::uint8_t {
    run,     // `length` contiguous bytes at displacement 0
    repeat,  // `count` copies of the child, `stride` bytes apart
    list,    // the child at displacements[first … first + count)          (equal blocks)
    each,    // children[first … first + count) at displacements[first …)  (different blocks)
};

// A loop's first byte in stream order lies at its displacement 0; only `low` may be negative. A
// child stands before its parent in the array.
struct NestLoop {
    LoopKind kind = LoopKind::run;
    std::int32_t child = -1;       // repeat, list
    std::int64_t count = 1;        // repeat, list, each
    std::int64_t stride = 0;       // repeat
    std::int64_t length = 0;       // run
    std::int64_t first = 0;        // list, each: into displacements()
    std::int64_t first_child = 0;  // each: into children()
    std::int64_t first_sum = 0;    // each: into the sampled prefix sums
    std::int64_t size = 0;         // bytes of data in this loop
    std::int64_t pieces = 0;       // runs that it comes to
    std::int64_t low = 0;          // true lower bound: first byte of data
    std::int64_t high = 0;         // true upper bound: one past the last byte of data
    bool operator==(const NestLoop&) const noexcept = default;
};

inline constexpr std::int64_t sums_every = 8;  // entries of `each` for one prefix sum
inline constexpr std::int64_t granularity_max = std::int64_t{1} << 30;

class NestBuilder;

class Nest {
public:
    Nest();  // no bytes

    // Factories; sizes in bytes. Contracts: counts and lengths are not negative and no position
    // overflows 64 bits (callers check what comes from outside). All of them simplify: loops of one
    // turn vanish, runs that touch are joined, regular lists become repeats, nested regular repeats
    // that touch become one.
    static Nest run(std::int64_t length);
    static Nest shifted(const Nest& child, std::int64_t displacement);
    static Nest repeat(const Nest& child, std::int64_t count, std::int64_t stride);
    static Nest list(const Nest& child, std::span<const std::int64_t> displacements);
    static Nest each(std::span<const Nest> children, std::span<const std::int64_t> displacements);
    // As `each`, without a nest per entry: entry i is palette[which[i]] at displacements[i].
    static Nest each(std::span<const Nest> palette, std::span<const std::int32_t> which,
                     std::span<const std::int64_t> displacements);
    // As MPI's (h)indexed: entry i is repeat(unit, counts[i], stride) at displacements[i].
    static Nest blocks(const Nest& unit, std::int64_t stride, std::span<const std::int64_t> counts,
                       std::span<const std::int64_t> displacements);

    [[nodiscard]] std::int64_t size() const noexcept;  // bytes of data
    [[nodiscard]] std::int64_t low() const noexcept;   // first byte of data (0 when empty)
    [[nodiscard]] std::int64_t high() const noexcept;  // one past the last byte of data
    [[nodiscard]] bool contiguous() const noexcept;    // one run (at any displacement) or empty
    // Data ascends and does not overlap, as MPI demands of a filetype of a file open for writing.
    [[nodiscard]] bool ascending() const noexcept;
    // Largest power of two that divides every piece's displacement and length (at most
    // granularity_max).
    [[nodiscard]] std::int64_t granularity() const noexcept;
    // Length of the shortest contiguous piece that the loops name (0 when empty).
    [[nodiscard]] std::int64_t shortest_piece() const noexcept;
    [[nodiscard]] int depth() const noexcept;
    // Memory held, bytes: what "a view of 8 million pieces takes" means.
    [[nodiscard]] std::size_t footprint() const noexcept;

    // Ascending nests only: bytes of data below `displacement`; O(depth · log list).
    [[nodiscard]] std::int64_t bytes_below(std::int64_t displacement) const noexcept;
    // Ascending nests only: displacement of the first byte of data at or after `displacement`,
    // or high() of the nest when there is none.
    [[nodiscard]] std::int64_t next_at(std::int64_t displacement) const noexcept;
    // Displacement of the data byte number `position` (0 ≤ position < size()).
    [[nodiscard]] std::int64_t displacement_of(std::int64_t position) const noexcept;

    // A person's view: "repeat 8000000 × 64 B { run 16 B }".
    [[nodiscard]] std::string describe() const;

    bool operator==(const Nest&) const noexcept = default;

    // The entry of an `each` loop that holds byte `position` of the loop, and the bytes before that
    // entry; O(log entries).
    struct Entry {
        std::int64_t index = 0;
        std::int64_t bytes_before = 0;
    };
    [[nodiscard]] Entry entry_at(const NestLoop& each, std::int64_t position) const noexcept;

    // For walkers and encoders.
    [[nodiscard]] std::span<const NestLoop> loops() const noexcept { return loops_; }
    [[nodiscard]] std::int32_t root() const noexcept { return root_; }
    [[nodiscard]] std::int64_t origin() const noexcept { return origin_; }  // shift of the root
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
    // For `each`: bytes of data before every eighth entry, so that 8 million blocks of different
    // lengths take 13 bytes each and a search still ends after seven steps.
    std::vector<std::int64_t> sizes_before_;
    std::int32_t root_ = -1;
    std::int64_t origin_ = 0;
};

}  // namespace forebay::pattern
