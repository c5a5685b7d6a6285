// Queries on a nest. Each search descends the loops once: the index within a regular loop comes
// from a division, that within a list from a binary search.
#include "foundation/pattern/nest.hpp"

#include "foundation/pattern/index.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace forebay::pattern {

Nest::Nest() = default;

std::int64_t Nest::size() const noexcept { return root_ < 0 ? 0 : loops_[at(root_)].size; }

std::int64_t Nest::low() const noexcept { return root_ < 0 ? 0 : loops_[at(root_)].low + origin_; }

std::int64_t Nest::high() const noexcept {
    return root_ < 0 ? 0 : loops_[at(root_)].high + origin_;
}

bool Nest::contiguous() const noexcept {
    return root_ < 0 || loops_[at(root_)].kind == LoopKind::run;
}

bool Nest::ascending() const noexcept {
    for (const NestLoop& loop : loops_) {
        if (loop.kind == LoopKind::repeat) {
            const NestLoop& child = loops_[at(loop.child)];
            if (loop.stride < child.high - child.low) {
                return false;
            }
        }
        if (loop.kind == LoopKind::list || loop.kind == LoopKind::each) {
            const auto child_of = [&](std::int64_t i) -> const NestLoop& {
                return loops_[at(loop.kind == LoopKind::list
                                     ? loop.child
                                     : children_[at(loop.first_child + i)])];
            };
            for (std::int64_t i = 1; i < loop.count; ++i) {
                const std::int64_t before = displacements_[at(loop.first + i - 1)];
                const std::int64_t here = displacements_[at(loop.first + i)];
                if (here + child_of(i).low < before + child_of(i - 1).high) {
                    return false;
                }
            }
        }
    }
    return true;
}

std::int64_t Nest::granularity() const noexcept {
    std::uint64_t bits = static_cast<std::uint64_t>(granularity_max | origin_);
    for (const NestLoop& loop : loops_) {
        bits |= static_cast<std::uint64_t>(loop.length | loop.stride);
    }
    for (const std::int64_t displacement : displacements_) {
        bits |= static_cast<std::uint64_t>(displacement);
    }
    return std::int64_t{1} << std::countr_zero(bits);
}

std::int64_t Nest::shortest_piece() const noexcept {
    std::int64_t shortest = 0;
    for (const NestLoop& loop : loops_) {
        if (loop.kind == LoopKind::run && (shortest == 0 || loop.length < shortest)) {
            shortest = loop.length;
        }
    }
    return shortest;
}

int Nest::depth() const noexcept {
    std::vector<int> depths(loops_.size(), 1);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        const NestLoop& loop = loops_[i];
        if (loop.kind == LoopKind::repeat || loop.kind == LoopKind::list) {
            depths[i] += depths[at(loop.child)];
        }
        if (loop.kind == LoopKind::each) {
            int deepest = 0;
            for (std::int64_t entry = 0; entry < loop.count; ++entry) {
                const std::int32_t child = children_[at(loop.first_child + entry)];
                deepest = std::max(deepest, depths[at(child)]);
            }
            depths[i] += deepest;
        }
    }
    return root_ < 0 ? 0 : depths[at(root_)];
}

std::size_t Nest::footprint() const noexcept {
    return sizeof(Nest) + loops_.capacity() * sizeof(NestLoop) +
           displacements_.capacity() * sizeof(std::int64_t) +
           children_.capacity() * sizeof(std::int32_t) +
           sizes_before_.capacity() * sizeof(std::int64_t);
}

std::int64_t Nest::bytes_before(const NestLoop& each, std::int64_t index) const noexcept {
    std::int64_t bytes = sizes_before_[at(each.first_sum + index / sums_every)];
    for (std::int64_t i = index - index % sums_every; i < index; ++i) {
        bytes += loops_[at(children_[at(each.first_child + i)])].size;
    }
    return bytes;
}

Nest::Entry Nest::entry_at(const NestLoop& each, std::int64_t position) const noexcept {
    const auto first = sizes_before_.begin() + each.first_sum;
    const auto last = first + (each.count + sums_every - 1) / sums_every;
    const auto sum = std::prev(std::upper_bound(first, last, position));
    Entry entry{(sum - first) * sums_every, *sum};
    while (true) {
        const std::int32_t child = children_[at(each.first_child + entry.index)];
        const std::int64_t after = entry.bytes_before + loops_[at(child)].size;
        if (after > position || entry.index + 1 == each.count) {
            return entry;
        }
        entry = Entry{entry.index + 1, after};
    }
}

// The index of the last entry of a `list` or `each` that begins at or below `displacement`, or -1.
std::int64_t Nest::entry_below(const NestLoop& loop, std::int64_t displacement) const noexcept {
    std::int64_t below = 0;
    std::int64_t above = loop.count;
    while (below < above) {
        const std::int64_t middle = below + (above - below) / 2;
        const std::int32_t child =
            loop.kind == LoopKind::list ? loop.child : children_[at(loop.first_child + middle)];
        if (displacements_[at(loop.first + middle)] + loops_[at(child)].low <= displacement) {
            below = middle + 1;
        } else {
            above = middle;
        }
    }
    return below - 1;
}

std::int64_t Nest::bytes_below(std::int64_t displacement) const noexcept {
    if (displacement <= low()) {
        return 0;
    }
    if (displacement >= high()) {
        return size();
    }
    std::int64_t rest = displacement - origin_;
    std::int64_t bytes = 0;
    std::int32_t here = root_;
    while (true) {
        const NestLoop& loop = loops_[at(here)];
        if (rest <= loop.low || rest >= loop.high) {
            return bytes + (rest <= loop.low ? 0 : loop.size);
        }
        if (loop.kind == LoopKind::run) {
            return bytes + rest;
        }
        if (loop.kind == LoopKind::repeat) {
            const NestLoop& child = loops_[at(loop.child)];
            const std::int64_t index = std::min((rest - child.low) / loop.stride, loop.count - 1);
            bytes += index * child.size;
            rest -= index * loop.stride;
            here = loop.child;
            continue;
        }
        const std::int64_t index = entry_below(loop, rest);
        rest -= displacements_[at(loop.first + index)];
        if (loop.kind == LoopKind::list) {
            bytes += index * loops_[at(loop.child)].size;
            here = loop.child;
        } else {
            bytes += bytes_before(loop, index);
            here = children_[at(loop.first_child + index)];
        }
    }
}

std::int64_t Nest::next_at(std::int64_t displacement) const noexcept {
    const std::int64_t position = bytes_below(displacement);
    return position == size() ? high() : displacement_of(position);
}

std::int64_t Nest::displacement_of(std::int64_t position) const noexcept {
    expects(position >= 0 && position < size(), "a position lies within the nest");
    std::int64_t displacement = origin_;
    std::int32_t here = root_;
    while (true) {
        const NestLoop& loop = loops_[at(here)];
        if (loop.kind == LoopKind::run) {
            return displacement + position;
        }
        if (loop.kind == LoopKind::each) {
            const Entry entry = entry_at(loop, position);
            position -= entry.bytes_before;
            displacement += displacements_[at(loop.first + entry.index)];
            here = children_[at(loop.first_child + entry.index)];
            continue;
        }
        const std::int64_t index = position / loops_[at(loop.child)].size;
        position -= index * loops_[at(loop.child)].size;
        displacement += loop.kind == LoopKind::repeat ? index * loop.stride
                                                      : displacements_[at(loop.first + index)];
        here = loop.child;
    }
}

std::string Nest::describe() const {
    if (root_ < 0) {
        return "nothing";
    }
    constexpr int levels_max = 32;
    const std::string text = describe(root_, levels_max);
    return origin_ == 0 ? text : fmt::format("at {}: {}", origin_, text);
}

std::string Nest::describe(std::int32_t index, int levels) const {
    constexpr std::int64_t entries_max = 8;
    const NestLoop& loop = loops_[at(index)];
    if (levels == 0) {
        return "…";
    }
    switch (loop.kind) {
        case LoopKind::run: return fmt::format("run {} B", loop.length);
        case LoopKind::repeat:
            return fmt::format("repeat {} × {} B {{ {} }}", loop.count, loop.stride,
                               describe(loop.child, levels - 1));
        case LoopKind::list:
        case LoopKind::each: break;
    }
    std::string text;
    for (std::int64_t i = 0; i < std::min(loop.count, entries_max); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", displacements_[at(loop.first + i)]);
        if (loop.kind == LoopKind::each) {
            text += ": " + describe(children_[at(loop.first_child + i)], levels - 1);
        }
    }
    text += loop.count > entries_max ? ", …" : "";
    return loop.kind == LoopKind::each ? fmt::format("each of {} {{ {} }}", loop.count, text)
                                       : fmt::format("list of {} at {} {{ {} }}", loop.count, text,
                                                     describe(loop.child, levels - 1));
}

}  // namespace forebay::pattern
