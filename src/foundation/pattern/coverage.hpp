// The dirty mask of a staging buffer (the image): a bitmap of the bytes that hold data, in memory
// that several ranks mark concurrently. With it holes are never written, and ranks whose requests
// overlap do no harm, as they would to a counter of bytes. One bit stands for `granularity` bytes,
// a power of two that divides every piece: for dense pieces of 16 bytes the bitmap takes 1/128 of
// the data.
#pragma once

#include "foundation/base/units.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pattern {

class Coverage {
public:
    using Bits = std::atomic<std::uint64_t>;

    // The number of words for `image_bytes` at this granularity.
    [[nodiscard]] static std::size_t words_for(std::int64_t image_bytes, std::int64_t granularity);

    // Uses `words` (in node-shared memory) without owning them. Contract: granularity is a power of
    // two and the words suffice for image_bytes.
    Coverage(std::span<Bits> words, std::int64_t image_bytes, std::int64_t granularity);

    [[nodiscard]] std::int64_t granularity() const noexcept;
    [[nodiscard]] std::int64_t image_bytes() const noexcept;

    void clear() noexcept;  // by one rank, while no other marks
    // Marks [at, at + length) of the image. Several ranks may mark concurrently, also the same
    // bytes. Contract: both ends are multiples of the granularity (the end may also be the image's
    // end), since rounding would mark bytes that no rank provided.
    void mark(std::int64_t at, std::int64_t length) noexcept;
    // Marks `count` pieces of `length` bytes, `stride` bytes apart, the first at `at`.
    void mark_strided(std::int64_t at, std::int64_t length, std::int64_t stride,
                      std::int64_t count) noexcept;

    // Marks piece i at `addresses[i]`, with `lengths[i]` bytes or `length` bytes for all.
    void mark_pieces(std::span<const std::int64_t> addresses,
                     std::span<const std::int64_t> lengths) noexcept;
    void mark_pieces(std::span<const std::int64_t> addresses, std::int64_t length) noexcept;

    // The first covered run at or after `from`, in bytes of the image; length 0 if there is none.
    // To be called by one rank, while no other marks.
    struct Run {
        std::int64_t begin = 0;
        std::int64_t length = 0;
    };
    [[nodiscard]] Run next_run(std::int64_t from) const noexcept;
    [[nodiscard]] bool full() const noexcept;  // every byte is covered
    [[nodiscard]] std::int64_t covered_bytes() const noexcept;

    // Bit i of word w stands for bytes [(64 w + i) × granularity, … + granularity).
    [[nodiscard]] std::span<Bits> words() const noexcept { return words_; }

private:
    class Marker;

    [[nodiscard]] std::int64_t units(std::int64_t bytes) const noexcept;
    void mark_periodic(std::int64_t from, std::int64_t end, std::int64_t width,
                       std::int64_t step) noexcept;

    std::span<Bits> words_;  // only those that image_bytes needs
    std::int64_t image_bytes_ = 0;
    int shift_ = 0;
};

}  // namespace forebay::pattern
