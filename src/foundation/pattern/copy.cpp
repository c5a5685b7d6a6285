// Gather and scatter between memory and a window. Two walkers go through the same bytes of the
// stream, one over the file's nest and one over memory's. Where their pieces have one length, or
// one length divides the other, a copy kernel moves as many pieces as possible at once.
#include "foundation/pattern/copy.hpp"

#include "foundation/pattern/kernels.hpp"
#include "foundation/pattern/pieces.hpp"

#include <algorithm>
#include <limits>

namespace forebay::pattern {

namespace {

std::int64_t address_of(const std::byte* bytes) noexcept {
    return reinterpret_cast<std::intptr_t>(bytes);
}

// One of the two walks: the present batch of pieces and the position in it.
class CopySide {
public:
    CopySide(const PieceWalker& walker, std::int64_t position, std::int64_t end) noexcept
        : walker_(walker), position_(position), end_(end) {}

    // Fetches the next batch when this one is used up. False at the end of the stream.
    bool refill() noexcept {
        if (index_ < batch_.count()) {
            return true;
        }
        if (position_ == end_) {
            return false;
        }
        walker_.fetch(position_, end_, batch_);
        position_ += batch_.bytes();
        index_ = 0;
        return true;
    }

    [[nodiscard]] std::int64_t address() const noexcept { return batch_.address(index_) + used_; }
    [[nodiscard]] std::int64_t left_of_piece() const noexcept {
        return batch_.length(index_) - used_;
    }
    // The common length of the whole pieces that follow; 0 inside of a piece, or if lengths differ.
    [[nodiscard]] std::int64_t unit() const noexcept {
        return used_ == 0 ? batch_.common_length() : 0;
    }
    [[nodiscard]] std::int64_t pieces_left() const noexcept { return batch_.count() - index_; }
    [[nodiscard]] bool strided() const noexcept { return batch_.strided(); }
    [[nodiscard]] StridedAddresses strided_addresses() const noexcept {
        return {batch_.address(index_), batch_.stride()};
    }
    [[nodiscard]] TabledAddresses tabled_addresses() const noexcept {
        return {batch_.addresses().data() + index_};
    }

    void skip_pieces(std::int64_t count) noexcept { index_ += count; }
    // Advances by `bytes` within the present piece.
    void skip_bytes(std::int64_t bytes) noexcept {
        used_ += bytes;
        if (used_ == batch_.length(index_)) {
            used_ = 0;
            ++index_;
        }
    }

private:
    PieceWalker walker_;
    std::int64_t position_;
    std::int64_t end_;
    std::int64_t index_ = 0;
    std::int64_t used_ = 0;
    PieceBatch batch_;
};

// Copies `count` whole pieces of `length` bytes from the side `from` to the addresses of `to`.
template <class To>
void copy_from(To to, const CopySide& from, std::int64_t count, std::int64_t length) noexcept {
    if (from.strided()) {
        copy_pieces(to, from.strided_addresses(), count, length);
    } else {
        copy_pieces(to, from.tabled_addresses(), count, length);
    }
}

template <class From>
void copy_to(const CopySide& to, From from, std::int64_t count, std::int64_t length) noexcept {
    if (to.strided()) {
        copy_pieces(to.strided_addresses(), from, count, length);
    } else {
        copy_pieces(to.tabled_addresses(), from, count, length);
    }
}

void copy_equal(CopySide& to, CopySide& from, std::int64_t length) noexcept {
    const std::int64_t count = std::min(to.pieces_left(), from.pieces_left());
    if (to.strided()) {
        copy_from(to.strided_addresses(), from, count, length);
    } else {
        copy_from(to.tabled_addresses(), from, count, length);
    }
    to.skip_pieces(count);
    from.skip_pieces(count);
}

// How many whole pieces of `many` fit into the rest of the present piece of `one`.
std::int64_t whole_pieces(const CopySide& one, const CopySide& many) noexcept {
    const std::int64_t unit = many.unit();
    const std::int64_t left = one.left_of_piece();
    return unit == 0 || left < 2 * unit ? 0 : std::min(left / unit, many.pieces_left());
}

void copy_stream(CopySide& to, CopySide& from) noexcept {
    while (to.refill() && from.refill()) {
        const std::int64_t unit_to = to.unit();
        const std::int64_t unit_from = from.unit();
        if (unit_to == unit_from && unit_to > 0) {
            copy_equal(to, from, unit_to);
        } else if (const std::int64_t parts = whole_pieces(to, from); parts > 1) {
            copy_from(StridedAddresses{to.address(), unit_from}, from, parts, unit_from);
            to.skip_bytes(parts * unit_from);
            from.skip_pieces(parts);
        } else if (const std::int64_t pieces = whole_pieces(from, to); pieces > 1) {
            copy_to(to, StridedAddresses{from.address(), unit_to}, pieces, unit_to);
            to.skip_pieces(pieces);
            from.skip_bytes(pieces * unit_to);
        } else {
            const std::int64_t bytes = std::min(to.left_of_piece(), from.left_of_piece());
            copy_any(to.address(), from.address(), bytes);
            to.skip_bytes(bytes);
            from.skip_bytes(bytes);
        }
    }
}

// A stretch of the stream as one of the two sides sees it.
struct StreamStretch {
    PieceWalker walker;
    std::int64_t position = 0;

    [[nodiscard]] CopySide side(std::int64_t from, std::int64_t length, std::int64_t unit) const {
        PieceWalker split = walker;
        split.split(unit);
        return CopySide{split, position + from, position + from + length};
    }
};

// Copies a stretch in pieces of `unit`; the head before the first multiple of the unit and the tail
// after the last are copied without. Unit 0: all is copied in the pieces that it has.
void copy_stretch(const StreamStretch& to, const StreamStretch& from, std::int64_t length,
                  std::int64_t unit) noexcept {
    const bool split = unit > 0 && (to.position - from.position) % unit == 0;
    const std::int64_t head = split ? std::min(length, (unit - to.position % unit) % unit) : length;
    const std::int64_t middle = split ? (length - head) / unit * unit : 0;
    const auto part = [&](std::int64_t begin, std::int64_t bytes, std::int64_t in_units) {
        if (bytes > 0) {
            CopySide to_side = to.side(begin, bytes, in_units);
            CopySide from_side = from.side(begin, bytes, in_units);
            copy_stream(to_side, from_side);
        }
    };
    part(0, head, 0);
    part(head, middle, unit);
    part(head + middle, length - head - middle, 0);
}

// The lengths of the runs of a tiled nest: the OR of all of them, the shortest, longest and mean.
struct RunLengths {
    std::int64_t bits = 0;
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    std::int64_t longest = 0;
    std::int64_t mean = 0;

    RunLengths(const Nest& nest, std::int64_t extent) noexcept {
        if (PieceWalker::endless(nest, extent)) {
            return;
        }
        for (const NestLoop& loop : nest.loops()) {
            if (loop.kind == LoopKind::run) {
                bits |= loop.length;
                shortest = std::min(shortest, loop.length);
                longest = std::max(longest, loop.length);
            }
        }
        mean = nest.size() / nest.loops()[static_cast<std::size_t>(nest.root())].pieces;
    }
};

// The unit into which pieces are split, or 0 if whole pieces are faster. Short pieces of different
// lengths cost mispredicted branches (which piece is shorter, which kernel copies it); pieces of
// one small unit cost none.
std::int64_t unit_for(const View& view, const RankMemory& memory) noexcept {
    constexpr std::int64_t unit_min = 4;
    constexpr std::int64_t units_max = 4;  // at most, in a mean piece
    const RunLengths file(view.filetype(), view.extent().bytes());
    const RunLengths rank(*memory.nest, memory.extent);
    const std::int64_t bits = file.bits | rank.bits;
    const std::int64_t unit = bits & -bits;
    const std::int64_t longest = std::max(file.longest, rank.longest);
    const std::int64_t shortest = std::min(file.shortest, rank.shortest);
    const bool differ =
        file.shortest < file.longest || rank.shortest < rank.longest || longest % shortest != 0;
    return differ && unit >= unit_min && std::max(file.mean, rank.mean) <= units_max * unit ? unit
                                                                                            : 0;
}

}  // namespace

WindowedTransfer::WindowedTransfer(const View& view, ViewRange request, const RankMemory& memory)
    : view_(&view), request_(request), memory_(memory) {
    expects(request.position >= 0 && request.length >= 0, "a request is not negative");
    expects(request.length == 0 || (memory.nest != nullptr && memory.nest->size() > 0),
            "a request with data has memory");
    unit_ = request.length == 0 ? 0 : unit_for(view, memory);
}

// The part of the stream in `window`, as stream positions.
WindowedTransfer::Span WindowedTransfer::span_in(const Extent& window) const {
    if (window.empty() || request_.length == 0) {
        return Span{};
    }
    const std::int64_t first = request_.position;
    const std::int64_t last = checked_add(request_.position, request_.length);
    const std::int64_t begin = std::clamp(view_->bytes_below(window.begin), first, last);
    return Span{begin, std::clamp(view_->bytes_below(window.end()), begin, last)};
}

std::int64_t WindowedTransfer::bytes_in(const Extent& window) const {
    const Span span = span_in(window);
    return std::max<std::int64_t>(span.end - span.begin, 0);
}

std::int64_t WindowedTransfer::gather(const Extent& window, std::span<std::byte> image,
                                      Coverage* coverage,
                                      std::int64_t image_offset_in_coverage) const {
    const Span span = span_in(window);
    if (span.begin == span.end) {
        return 0;
    }
    const Length used = view_->offset_of(span.end - 1) - window.begin;
    expects(used.size() < image.size(), "the image holds what the window has of the request");
    const std::int64_t origin = address_of(image.data()) - window.begin.bytes();
    const PieceWalker file{view_->filetype(), view_->extent().bytes(),
                           origin + view_->displacement().bytes()};
    const PieceWalker memory{*memory_.nest, memory_.extent, address_of(memory_.base)};
    copy_stretch(StreamStretch{file, span.begin},
                 StreamStretch{memory, span.begin - request_.position}, span.end - span.begin,
                 unit_);
    if (coverage != nullptr) {
        mark(span, window, *coverage, image_offset_in_coverage);
    }
    return span.end - span.begin;
}

std::int64_t WindowedTransfer::scatter(const Extent& window,
                                       std::span<const std::byte> image) const {
    const auto bytes = std::min(window.length.bytes(), static_cast<std::int64_t>(image.size()));
    const Span span = span_in(Extent{window.begin, Length{bytes}});
    if (span.begin == span.end) {
        return 0;
    }
    const std::int64_t origin = address_of(image.data()) - window.begin.bytes();
    const PieceWalker file{view_->filetype(), view_->extent().bytes(),
                           origin + view_->displacement().bytes()};
    const PieceWalker memory{*memory_.nest, memory_.extent, address_of(memory_.base)};
    copy_stretch(StreamStretch{memory, span.begin - request_.position},
                 StreamStretch{file, span.begin}, span.end - span.begin, unit_);
    return span.end - span.begin;
}

std::int64_t WindowedTransfer::mark(const Extent& window, Coverage& coverage,
                                    std::int64_t image_offset_in_coverage) const {
    const Span span = span_in(window);
    mark(span, window, coverage, image_offset_in_coverage);
    return span.end - span.begin;
}

void WindowedTransfer::mark(const Span& span, const Extent& window, Coverage& coverage,
                            std::int64_t image_offset) const {
    const std::int64_t origin = image_offset - window.begin.bytes();
    const PieceWalker file{view_->filetype(), view_->extent().bytes(),
                           origin + view_->displacement().bytes()};
    PieceBatch batch;
    for (std::int64_t position = span.begin; position < span.end; position += batch.bytes()) {
        file.fetch(position, span.end, batch);
        if (batch.strided()) {
            coverage.mark_strided(batch.address(0), batch.common_length(), batch.stride(),
                                  batch.count());
        } else if (batch.common_length() > 0) {
            coverage.mark_pieces(batch.addresses(), batch.common_length());
        } else {
            coverage.mark_pieces(batch.addresses(), batch.lengths());
        }
    }
}

std::size_t WindowedTransfer::runs(const Extent& window, std::span<MemoryRun> out) const {
    const Span span = span_in(window);
    if (span.begin == span.end || out.empty()) {
        return 0;
    }
    const PieceWalker file{view_->filetype(), view_->extent().bytes(),
                           view_->displacement().bytes()};
    const PieceWalker memory{*memory_.nest, memory_.extent, address_of(memory_.base)};
    CopySide at{file, span.begin, span.end};
    CopySide from{memory, span.begin - request_.position, span.end - request_.position};
    std::size_t count = 0;
    std::int64_t offset_next = 0;
    std::int64_t address_next = 0;
    while (at.refill() && from.refill()) {
        const std::int64_t bytes = std::min(at.left_of_piece(), from.left_of_piece());
        if (count > 0 && at.address() == offset_next && from.address() == address_next) {
            out[count - 1].length += bytes;
        } else if (count == out.size()) {
            break;
        } else {
            out[count] = MemoryRun{Offset{at.address()}, pointer_to(from.address()), bytes};
            ++count;
        }
        offset_next = at.address() + bytes;
        address_next = from.address() + bytes;
        at.skip_bytes(bytes);
        from.skip_bytes(bytes);
    }
    return count;
}

}  // namespace forebay::pattern
