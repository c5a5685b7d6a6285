// Descends the loops once for each batch; only the loops over the innermost runs have one iteration
// for each piece.
#include "foundation/pattern/pieces.hpp"

#include "foundation/pattern/index.hpp"

#include <algorithm>
#include <bit>

namespace forebay::pattern {

namespace {

// A series of at least this many pieces gets a batch of its own, which costs a descent of the
// loops.
constexpr std::int64_t series_min = 256;
// An entry stored this many entries ago has left the store buffer, so that loading it does not
// stall.
constexpr std::int64_t far = 16;

// Skips whole copies of `size` bytes: subtracts their bytes from `skip` and returns their number.
std::int64_t skip_copies(std::int64_t& skip, std::int64_t size) noexcept {
    if (skip == 0) {
        return 0;  // the usual case; saves a division
    }
    const std::int64_t copies = skip / size;
    skip -= copies * size;
    return copies;
}

}  // namespace

void PieceBatch::reset(std::int64_t bytes_max, std::size_t pieces_max, std::int64_t unit) noexcept {
    unit_ = unit;
    unit_shift_ = std::countr_zero(static_cast<std::uint64_t>(unit));
    count_ = 0;
    common_length_ = 0;
    bytes_ = 0;
    bytes_left_ = bytes_max;
    pieces_max_ = std::min(pieces_max, table_max);
    strided_ = false;
}

PieceBatch::Go PieceBatch::one_strided(std::int64_t address, std::int64_t length) noexcept {
    strided_ = true;
    count_ = 1;
    first_ = address;
    stride_ = length;
    common_length_ = length;
    bytes_ = length;
    return Go::stop;
}

void PieceBatch::use_length(std::int64_t length) noexcept {
    if (count_ == 0) {
        common_length_ = length;
    } else if (common_length_ != length && common_length_ != 0) {
        std::fill_n(lengths_.begin(), count_, common_length_);
        common_length_ = 0;
    }
}

PieceBatch::Go PieceBatch::add_units(std::int64_t address, std::int64_t length) noexcept {
    common_length_ = unit_;
    const std::int64_t room = static_cast<std::int64_t>(pieces_max_) - count_;
    const std::int64_t now = std::min(room, std::min(length, bytes_left_) >> unit_shift_);
    const std::int64_t end = count_ + now;
    bytes_ += now << unit_shift_;
    bytes_left_ -= now << unit_shift_;
    for (; count_ < end; ++count_, address += unit_) {
        addresses_[at(count_)] = address;
    }
    return go();
}

PieceBatch::Go PieceBatch::add(std::int64_t address, std::int64_t length) noexcept {
    if (unit_ != 0) {
        return add_units(address, length);
    }
    if (length >= bytes_left_) {
        length = bytes_left_;
        if (count_ == 0) {
            return one_strided(address, length);
        }
        // If the end of the request cuts this piece, it goes into the next batch, so that the
        // pieces of this one keep a common length.
        if (length != common_length_) {
            return Go::stop;
        }
    }
    use_length(length);
    if (common_length_ == 0) {
        lengths_[at(count_)] = length;
    }
    addresses_[at(count_)] = address;
    bytes_ += length;
    bytes_left_ -= length;
    ++count_;
    return go();
}

PieceBatch::Go PieceBatch::add_series(std::int64_t address, std::int64_t length,
                                      std::int64_t stride, std::int64_t count,
                                      std::int64_t skip) noexcept {
    if (unit_ != 0) {
        while (count > 0) {
            if (add_units(address + skip, length - skip) == Go::stop) {
                return Go::stop;
            }
            const std::int64_t done =
                skip > 0 ? 1 : 1 + replicate(length >> unit_shift_, length, stride, count - 1);
            address += done * stride;
            count -= done;
            skip = 0;
        }
        return go();
    }
    if (skip > 0) {
        return one_strided(address + skip, std::min(length - skip, bytes_left_));
    }
    const std::int64_t whole =
        count == 1 && length <= bytes_left_ ? 1 : std::min(count, bytes_left_ / length);
    if (whole >= series_min) {
        if (count_ == 0) {
            strided_ = true;
            count_ = whole;
            first_ = address;
            stride_ = stride;
            common_length_ = length;
            bytes_ = whole * length;
        }
        return Go::stop;
    }
    const std::int64_t now = std::min(whole, static_cast<std::int64_t>(pieces_max_) - count_);
    if (now > 0) {
        use_length(length);
        std::int64_t* const addresses = addresses_.data() + count_;
        for (std::int64_t i = 0; i < now; ++i) {
            addresses[i] = address + i * stride;
        }
        if (common_length_ == 0) {
            std::fill_n(lengths_.begin() + count_, now, length);
        }
        count_ += now;
        bytes_ += now * length;
        bytes_left_ -= now * length;
    }
    return now < count && go() == Go::on ? add(address + now * stride, length) : go();
}

std::int64_t PieceBatch::replicate(std::int64_t pieces, std::int64_t bytes, std::int64_t stride,
                                   std::int64_t count) noexcept {
    const std::int64_t room = static_cast<std::int64_t>(pieces_max_) - count_;
    const std::int64_t times = std::min({count, room / pieces, bytes_left_ / bytes});
    const std::int64_t end = count_ + times * pieces;
    for (std::int64_t i = count_; pieces >= far && i < end; ++i) {
        addresses_[at(i)] = addresses_[at(i - pieces)] + stride;
    }
    // Iterates over pieces in the outer loop and copies in the inner one: in the other order each
    // load would wait for the store just before it (store forwarding).
    for (std::int64_t piece = count_ - pieces; pieces < far && piece < count_; ++piece) {
        std::int64_t address = addresses_[at(piece)];
        for (std::int64_t i = piece + pieces; i < end; i += pieces) {
            address += stride;
            addresses_[at(i)] = address;
        }
    }
    for (std::int64_t i = count_; common_length_ == 0 && i < end; ++i) {
        lengths_[at(i)] = lengths_[at(i - pieces)];
    }
    count_ = end;
    bytes_ += times * bytes;
    bytes_left_ -= times * bytes;
    return times;
}

PieceBatch::Go PieceBatch::add_list(std::int64_t address, std::int64_t length,
                                    std::span<const std::int64_t> displacements,
                                    std::int64_t skip) noexcept {
    if (skip > 0) {
        return one_strided(address + displacements[0] + skip, std::min(length - skip, bytes_left_));
    }
    for (const std::int64_t displacement : displacements) {
        if (add(address + displacement, length) == Go::stop) {
            return Go::stop;
        }
    }
    return Go::on;
}

PieceWalker::PieceWalker(const Nest& nest, std::int64_t extent, std::int64_t base) noexcept
    : nest_(&nest), loops_(nest.loops()), extent_(extent), base_(base + nest.origin()) {}

void PieceWalker::fetch(std::int64_t position, std::int64_t end, PieceBatch& batch,
                        std::size_t pieces_max) const noexcept {
    expects(position >= 0 && position < end, "there are bytes to walk");
    batch.reset(end - position, pieces_max, unit_);
    const NestLoop& root = loop_at(nest_->root());
    if (root.kind == LoopKind::run) {
        if (extent_ == root.length) {
            batch.one_strided(base_ + position, end - position);
        } else {
            const std::int64_t count = (end - position) / root.length + 2;
            const std::int64_t tile = position / root.length;
            batch.add_series(base_ + tile * extent_, root.length, extent_, count,
                             position - tile * root.length);
        }
        return;
    }
    const std::int64_t tile = position / root.size;
    const std::int64_t address = base_ + tile * extent_;
    const std::int64_t skip = position - tile * root.size;
    const std::int64_t count = (end - position) / root.size + 2;
    walk_copies(root, address, extent_, count, skip, batch);
}

// Walks `count` copies of a loop, `stride` bytes apart: descends into the first, and replicates its
// table entries for the others as long as they fit whole.
PieceBatch::Go PieceWalker::walk_copies(const NestLoop& loop, std::int64_t address,
                                        std::int64_t stride, std::int64_t count, std::int64_t skip,
                                        PieceBatch& batch) const noexcept {
    while (count > 0) {
        const std::int64_t before = batch.count_;
        if (walk(loop, address, skip, batch) == PieceBatch::Go::stop) {
            return PieceBatch::Go::stop;
        }
        const std::int64_t done =
            skip > 0 ? 1 : 1 + batch.replicate(batch.count_ - before, loop.size, stride, count - 1);
        if (batch.go() == PieceBatch::Go::stop) {
            return PieceBatch::Go::stop;
        }
        count -= done;
        address += done * stride;
        skip = 0;
    }
    return PieceBatch::Go::on;
}

PieceBatch::Go PieceWalker::walk(const NestLoop& loop, std::int64_t address, std::int64_t skip,
                                 PieceBatch& batch) const noexcept {
    switch (loop.kind) {
        case LoopKind::run: return batch.add_series(address, loop.length, loop.length, 1, skip);
        case LoopKind::repeat: return walk_repeat(loop, address, skip, batch);
        case LoopKind::list: return walk_list(loop, address, skip, batch);
        case LoopKind::each: break;
    }
    return walk_each(loop, address, skip, batch);
}

PieceBatch::Go PieceWalker::walk_repeat(const NestLoop& loop, std::int64_t address,
                                        std::int64_t skip, PieceBatch& batch) const noexcept {
    const NestLoop& child = loop_at(loop.child);
    const std::int64_t index = skip_copies(skip, child.size);
    address += index * loop.stride;
    if (child.kind == LoopKind::run) {
        return batch.add_series(address, child.length, loop.stride, loop.count - index, skip);
    }
    return walk_copies(child, address, loop.stride, loop.count - index, skip, batch);
}

PieceBatch::Go PieceWalker::walk_list(const NestLoop& loop, std::int64_t address, std::int64_t skip,
                                      PieceBatch& batch) const noexcept {
    const NestLoop& child = loop_at(loop.child);
    const std::int64_t index = skip_copies(skip, child.size);
    const auto displacements =
        nest_->displacements().subspan(at(loop.first + index), at(loop.count - index));
    if (child.kind == LoopKind::run) {
        return batch.add_list(address, child.length, displacements, skip);
    }
    std::int64_t pieces = 0;  // pieces of the entry before, if all of them are in the table; else 0
    std::int64_t before = 0;
    for (const std::int64_t displacement : displacements) {
        const std::int64_t had = batch.count_;
        if (pieces == 0 || batch.replicate(pieces, child.size, displacement - before, 1) == 0) {
            if (walk(child, address + displacement, skip, batch) == PieceBatch::Go::stop) {
                return PieceBatch::Go::stop;
            }
        } else if (batch.go() == PieceBatch::Go::stop) {
            return PieceBatch::Go::stop;
        }
        pieces = skip > 0 ? 0 : batch.count_ - had;
        before = displacement;
        skip = 0;
    }
    return PieceBatch::Go::on;
}

PieceBatch::Go PieceWalker::walk_each(const NestLoop& loop, std::int64_t address, std::int64_t skip,
                                      PieceBatch& batch) const noexcept {
    std::int64_t index = 0;
    if (skip > 0) {
        const Nest::Entry entry = nest_->entry_at(loop, skip);
        index = entry.index;
        skip -= entry.bytes_before;
    }
    for (; index < loop.count; ++index, skip = 0) {
        const NestLoop& child = loop_at(nest_->children()[at(loop.first_child + index)]);
        const std::int64_t place = address + nest_->displacements()[at(loop.first + index)];
        const PieceBatch::Go go = child.kind == LoopKind::run && skip == 0
                                      ? batch.add(place, child.length)
                                      : walk(child, place, skip, batch);
        if (go == PieceBatch::Go::stop) {
            return PieceBatch::Go::stop;
        }
    }
    return PieceBatch::Go::on;
}

}  // namespace forebay::pattern
