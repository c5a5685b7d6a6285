// Which bytes of a staged image hold data: a bitmap in memory that several ranks mark at once.
// With it holes are never written, and ranks that overlap do no harm (counting bytes would).
// One bit stands for `granularity` bytes, a power of two that divides every piece, so that a dense
// image of 16-byte pieces costs 1/128 of its data.
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

    // Words needed for `image_bytes` at this granularity.
    [[nodiscard]] static std::size_t words_for(std::int64_t image_bytes, std::int64_t granularity);

    // A view of `words`, which it does not own (node-shared memory). Contract: granularity is a
    // power of two, image_bytes fits.
    Coverage(std::span<Bits> words, std::int64_t image_bytes, std::int64_t granularity);

    [[nodiscard]] std::int64_t granularity() const noexcept;
    [[nodiscard]] std::int64_t image_bytes() const noexcept;

    void clear() noexcept;  // by one rank, when no other marks
    // Marks [at, at + length) of the image; several ranks may mark at once, also the same bytes.
    // Contract: both are multiples of the granularity (or the end is the image's end); rounding
    // would claim bytes that nobody gave.
    void mark(std::int64_t at, std::int64_t length) noexcept;
    // `count` pieces of `length` bytes, `stride` apart, the first at `at`.
    void mark_strided(std::int64_t at, std::int64_t length, std::int64_t stride,
                      std::int64_t count) noexcept;

    // Piece i is `lengths[i]` bytes at `addresses[i]`; or all are `length` bytes.
    void mark_pieces(std::span<const std::int64_t> addresses,
                     std::span<const std::int64_t> lengths) noexcept;
    void mark_pieces(std::span<const std::int64_t> addresses, std::int64_t length) noexcept;

    // The first covered run at or after `from`: begin and length in bytes of the image;
    // length 0 when there is none. By one rank, when no other marks.
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

    std::span<Bits> words_;  // as many as image_bytes needs
    std::int64_t image_bytes_ = 0;
    int shift_ = 0;
};

}  // namespace forebay::pattern
