// A tiled nest as batches of pieces: either one strided series, which says a million pieces in
// four numbers, or a table of a few hundred, for what is short or irregular. A batch is found from
// a stream position alone (one descent of the loops), so walking keeps no state and takes no
// memory beyond the batch.
#pragma once

#include "foundation/pattern/nest.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pattern {

// Consecutive pieces of a stream. Addresses are memory addresses or file offsets: plain numbers,
// since a nest may lead through positions that are neither before it arrives.
class PieceBatch {
public:
    static constexpr std::size_t table_max = 256;

    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] bool strided() const noexcept { return strided_; }
    // Length of all pieces, or 0 when they differ (only in a table): then it has lengths().
    [[nodiscard]] std::int64_t common_length() const noexcept { return common_length_; }
    [[nodiscard]] std::int64_t stride() const noexcept { return stride_; }
    [[nodiscard]] std::int64_t address(std::int64_t i) const noexcept {
        return strided_ ? first_ + i * stride_ : addresses_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::int64_t length(std::int64_t i) const noexcept {
        return common_length_ != 0 ? common_length_ : lengths_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
    // Only of tables.
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
    // `length` bytes, a multiple of the unit, as pieces of the unit.
    Go add_units(std::int64_t address, std::int64_t length) noexcept;
    Go add(std::int64_t address, std::int64_t length) noexcept;
    // `count` pieces of `length`, the first without its first `skip` bytes.
    Go add_series(std::int64_t address, std::int64_t length, std::int64_t stride,
                  std::int64_t count, std::int64_t skip) noexcept;
    Go add_list(std::int64_t address, std::int64_t length,
                std::span<const std::int64_t> displacements, std::int64_t skip) noexcept;
    Go one_strided(std::int64_t address, std::int64_t length) noexcept;
    // The last `pieces` once more, `count` times at most, each `stride` further; returns how often
    // that fitted.
    std::int64_t replicate(std::int64_t pieces, std::int64_t bytes, std::int64_t stride,
                           std::int64_t count) noexcept;
    // Makes room for pieces of `length`; from the first that differs on lengths are written.
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
    // The nest tiled `extent` bytes apart from address `base` on; it outlives the walker.
    PieceWalker(const Nest& nest, std::int64_t extent, std::int64_t base) noexcept;

    // Without an end to its run: the tiles touch.
    [[nodiscard]] static bool endless(const Nest& nest, std::int64_t extent) noexcept {
        return nest.contiguous() && nest.size() == extent;
    }
    // From now on pieces come as pieces of `unit`, a power of two that divides the length of each
    // run. Contract: positions and ends are multiples of it. 0: pieces as they are.
    void split(std::int64_t unit) noexcept { unit_ = unit; }

    // The pieces from stream position `position` on, at least one and none beyond `end`.
    // Contract: position < end. A table holds at most `pieces_max`.
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
