// Iterates over the pieces of a tiled nest in batches: either one strided series, which describes a
// million pieces by four numbers, or a table of up to 256 pieces if they are few or irregular. A
// batch follows from a stream position alone (one descent of the loops), so a walker keeps no
// position and takes no memory beyond the batch.
#pragma once

#include "foundation/pattern/nest.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pattern {

// Consecutive pieces of a data stream. Addresses are memory addresses or file offsets: plain
// numbers, since sums of displacements may be neither until they are complete.
class PieceBatch {
public:
    static constexpr std::size_t table_max = 256;

    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] bool strided() const noexcept { return strided_; }
    // The length of all pieces, or 0 if they differ (tables only): then lengths() has them.
    [[nodiscard]] std::int64_t common_length() const noexcept { return common_length_; }
    [[nodiscard]] std::int64_t stride() const noexcept { return stride_; }
    [[nodiscard]] std::int64_t address(std::int64_t i) const noexcept {
        return strided_ ? first_ + i * stride_ : addresses_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::int64_t length(std::int64_t i) const noexcept {
        return common_length_ != 0 ? common_length_ : lengths_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
    // Contract: not strided().
    [[nodiscard]] std::span<const std::int64_t> addresses() const noexcept {
        return {addresses_.data(), static_cast<std::size_t>(count_)};
    }
    [[nodiscard]] std::span<const std::int64_t> lengths() const noexcept {
        return {lengths_.data(), static_cast<std::size_t>(count_)};
    }

private:
    friend class PieceWalker;

    enum class Go : bool { stop, on };

    void reset(std::int64_t bytes_max, std::size_t pieces_max, std::int64_t unit) noexcept;
    // Adds `length` bytes, a multiple of the unit, as pieces of one unit each.
    Go add_units(std::int64_t address, std::int64_t length) noexcept;
    Go add(std::int64_t address, std::int64_t length) noexcept;
    // Adds `count` pieces of `length` bytes; the first one lacks its first `skip` bytes.
    Go add_series(std::int64_t address, std::int64_t length, std::int64_t stride,
                  std::int64_t count, std::int64_t skip) noexcept;
    Go add_list(std::int64_t address, std::int64_t length,
                std::span<const std::int64_t> displacements, std::int64_t skip) noexcept;
    Go one_strided(std::int64_t address, std::int64_t length) noexcept;
    // Adds the last `pieces` pieces again, up to `count` times, each time `stride` bytes further.
    // Returns how many times they fitted whole.
    std::int64_t replicate(std::int64_t pieces, std::int64_t bytes, std::int64_t stride,
                           std::int64_t count) noexcept;
    // Prepares the table for pieces of `length`: writes lengths() from the first different length
    // on.
    void use_length(std::int64_t length) noexcept;
    [[nodiscard]] Go go() const noexcept {
        return static_cast<std::size_t>(count_) < pieces_max_ && bytes_left_ > 0 ? Go::on
                                                                                 : Go::stop;
    }

    std::int64_t count_ = 0;
    std::int64_t common_length_ = 0;
    std::int64_t first_ = 0;
    std::int64_t stride_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t bytes_left_ = 0;
    std::int64_t unit_ = 0;
    int unit_shift_ = 0;
    std::size_t pieces_max_ = table_max;
    bool strided_ = false;
    std::array<std::int64_t, table_max> addresses_;
    std::array<std::int64_t, table_max> lengths_;
};

class PieceWalker {
public:
    // Walks the nest tiled `extent` bytes apart from address `base` on. The nest outlives the
    // walker.
    PieceWalker(const Nest& nest, std::int64_t extent, std::int64_t base) noexcept;

    // Whether all tiles together are one run without an end, because adjacent tiles touch.
    [[nodiscard]] static bool endless(const Nest& nest, std::int64_t extent) noexcept {
        return nest.contiguous() && nest.size() == extent;
    }
    // Splits all later pieces into pieces of `unit` bytes, a power of two that divides the length
    // of each run; 0: no splitting. Contract: positions and ends are multiples of the unit.
    void split(std::int64_t unit) noexcept { unit_ = unit; }

    // Fills `batch` with the pieces from stream position `position` on, at least one and none
    // beyond `end`. Contract: position < end. A table gets `pieces_max` pieces at most.
    void fetch(std::int64_t position, std::int64_t end, PieceBatch& batch,
               std::size_t pieces_max = PieceBatch::table_max) const noexcept;

private:
    [[nodiscard]] const NestLoop& loop_at(std::int32_t index) const noexcept {
        return loops_[static_cast<std::size_t>(index)];
    }
    PieceBatch::Go walk(const NestLoop& loop, std::int64_t address, std::int64_t skip,
                        PieceBatch& batch) const noexcept;
    PieceBatch::Go walk_copies(const NestLoop& loop, std::int64_t address, std::int64_t stride,
                               std::int64_t count, std::int64_t skip,
                               PieceBatch& batch) const noexcept;
    PieceBatch::Go walk_repeat(const NestLoop& loop, std::int64_t address, std::int64_t skip,
                               PieceBatch& batch) const noexcept;
    PieceBatch::Go walk_list(const NestLoop& loop, std::int64_t address, std::int64_t skip,
                             PieceBatch& batch) const noexcept;
    PieceBatch::Go walk_each(const NestLoop& loop, std::int64_t address, std::int64_t skip,
                             PieceBatch& batch) const noexcept;

    const Nest* nest_;
    std::span<const NestLoop> loops_;
    std::int64_t extent_;
    std::int64_t base_;
    std::int64_t unit_ = 0;
};

}  // namespace forebay::pattern
