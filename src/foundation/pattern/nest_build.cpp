// Builds and normalises nests: regular patterns become loops, whichever constructor the datatype
// used, so that the code that walks nests sees long regular loops and long runs.
#include "foundation/pattern/nest.hpp"

#include "foundation/pattern/index.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace forebay::pattern {

namespace {

// From this length on an arithmetic progression takes less memory as a loop than as list entries.
constexpr std::size_t progression_min = 16;
// Bytes: displacement 8, child 4, an eighth of a prefix sum 1.
constexpr std::size_t entry_cost = 13;
// Larger children (in bytes) are not duplicated into loops of their own.
constexpr std::size_t child_footprint_max = 4096;

using Displacements = std::span<const std::int64_t>;

struct PaletteEntry {
    std::int32_t child = 0;  // index into the palette
    std::int64_t displacement = 0;
};

// The length of the arithmetic progression that begins at `from`.
std::size_t progression(Displacements displacements, std::size_t from) noexcept {
    const std::size_t count = displacements.size();
    if (from + 2 >= count) {
        return count - from;
    }
    const std::int64_t stride = checked_subtract(displacements[from + 1], displacements[from]);
    std::size_t end = from + 2;
    while (end < count && displacements[end] - displacements[end - 1] == stride) {
        ++end;
    }
    return end - from;
}

// The group size, if the list consists of groups of equal length and stride: 0, 8, 100, 108, 200,
// 208 … has groups of 2. 1 if it does not.
std::size_t group_of(Displacements displacements) noexcept {
    const std::size_t count = displacements.size();
    const std::size_t group = progression(displacements, 0);
    if (group < 2 || count % group != 0) {
        return 1;
    }
    const std::int64_t stride = displacements[1] - displacements[0];
    for (std::size_t i = 1; i < count; ++i) {
        if (i % group != 0 && displacements[i] - displacements[i - 1] != stride) {
            return 1;
        }
    }
    return group;
}

}  // namespace

// Collects entries and their children, each different child once, and turns them into a nest.
class NestBuilder {
public:
    static Nest list(const Nest& child, Displacements displacements);

    std::int32_t add(Nest child);
    void append(std::int32_t child, std::int64_t displacement);
    Nest finish();

    static void push(Nest& nest, NestLoop loop);
    static std::int64_t length_of(const Nest& nest) noexcept;
    static Nest shifted(Nest nest, std::int64_t displacement);
    static Nest repeated(Nest nest, std::int64_t count, std::int64_t stride);

private:
    static bool touches(const Nest& child, Displacements displacements) noexcept;
    static void measure(Nest& nest, NestLoop& loop);
    static std::int32_t adopt(Nest& nest, const Nest& child);
    static Nest same(const Nest& child, Displacements displacements);

    void join_runs();
    bool compress(std::size_t cost_before);
    std::size_t progression_at(std::size_t from) const noexcept;
    Nest emit() const;

    std::vector<Nest> palette_;
    std::vector<PaletteEntry> entries_;
    // Palette index of each run, by its length.
    std::unordered_map<std::int64_t, std::int32_t> runs_;
};

void NestBuilder::measure(Nest& nest, NestLoop& loop) {
    const auto span_of = [&](const NestLoop& child, std::int64_t displacement) {
        loop.low = std::min(loop.low, checked_add(displacement, child.low));
        loop.high = std::max(loop.high, checked_add(displacement, child.high));
    };
    switch (loop.kind) {
        case LoopKind::run:
            loop.size = loop.length;
            loop.pieces = 1;
            loop.high = loop.length;
            return;
        case LoopKind::repeat: {
            const NestLoop& child = nest.loops_[at(loop.child)];
            loop.size = checked_multiply(child.size, loop.count);
            loop.pieces = child.pieces * loop.count;
            span_of(child, 0);
            span_of(child, checked_multiply(loop.stride, loop.count - 1));
            return;
        }
        case LoopKind::list: {
            const auto first = nest.displacements_.begin() + loop.first;
            const auto [low, high] = std::minmax_element(first, first + loop.count);
            const NestLoop& child = nest.loops_[at(loop.child)];
            loop.size = checked_multiply(child.size, loop.count);
            loop.pieces = child.pieces * loop.count;
            span_of(child, *low);
            span_of(child, *high);
            return;
        }
        case LoopKind::each:
            for (std::int64_t i = 0; i < loop.count; ++i) {
                const NestLoop& child = nest.loops_[at(nest.children_[at(loop.first_child + i)])];
                if (i % sums_every == 0) {
                    nest.sizes_before_.push_back(loop.size);
                }
                loop.size = checked_add(loop.size, child.size);
                loop.pieces += child.pieces;
                span_of(child, nest.displacements_[at(loop.first + i)]);
            }
            return;
    }
}

// Makes `loop` the root of `nest`.
void NestBuilder::push(Nest& nest, NestLoop loop) {
    measure(nest, loop);
    checked_add(loop.low, nest.origin_);
    checked_add(loop.high, nest.origin_);
    nest.root_ = static_cast<std::int32_t>(nest.loops_.size());
    nest.loops_.push_back(loop);
}

// The length of a nest that is one run, else -1.
std::int64_t NestBuilder::length_of(const Nest& nest) noexcept {
    return nest.root_ >= 0 && nest.contiguous() ? nest.size() : -1;
}

Nest NestBuilder::shifted(Nest nest, std::int64_t displacement) {
    if (nest.root_ >= 0) {
        checked_add(nest.low(), displacement);
        checked_add(nest.high(), displacement);
        nest.origin_ = checked_add(nest.origin_, displacement);
    }
    return nest;
}

Nest NestBuilder::repeated(Nest nest, std::int64_t count, std::int64_t stride) {
    if (count == 0 || nest.root_ < 0) {
        return Nest{};
    }
    if (count == 1) {
        return nest;
    }
    NestLoop loop = nest.loops_.back();
    if (loop.kind == LoopKind::run && stride == loop.length) {
        loop = NestLoop{.length = checked_multiply(loop.length, count)};
        nest.loops_.pop_back();
    } else if (loop.kind == LoopKind::repeat && stride == loop.count * loop.stride) {
        loop = NestLoop{.kind = LoopKind::repeat,
                        .child = loop.child,
                        .count = checked_multiply(loop.count, count),
                        .stride = loop.stride};
        nest.loops_.pop_back();
    } else {
        loop = NestLoop{
            .kind = LoopKind::repeat, .child = nest.root_, .count = count, .stride = stride};
    }
    push(nest, loop);
    return nest;
}

bool NestBuilder::touches(const Nest& child, Displacements displacements) noexcept {
    const std::int64_t length = length_of(child);
    for (std::size_t i = 1; length > 0 && i < displacements.size(); ++i) {
        if (displacements[i] - displacements[i - 1] == length) {
            return true;
        }
    }
    return false;
}

// Appends the loops of `child` to `nest`; returns the index of the child's root there.
std::int32_t NestBuilder::adopt(Nest& nest, const Nest& child) {
    const auto loops = static_cast<std::int32_t>(nest.loops_.size());
    const auto displacements = static_cast<std::int64_t>(nest.displacements_.size());
    const auto children = static_cast<std::int64_t>(nest.children_.size());
    const auto sums = static_cast<std::int64_t>(nest.sizes_before_.size());
    for (NestLoop loop : child.loops_) {
        loop.child += loop.child >= 0 ? loops : 0;
        loop.first += displacements;
        loop.first_child += children;
        loop.first_sum += sums;
        nest.loops_.push_back(loop);
    }
    for (const std::int32_t entry : child.children_) {
        nest.children_.push_back(entry + loops);
    }
    nest.displacements_.insert(nest.displacements_.end(), child.displacements_.begin(),
                               child.displacements_.end());
    nest.sizes_before_.insert(nest.sizes_before_.end(), child.sizes_before_.begin(),
                              child.sizes_before_.end());
    return child.root_ + loops;
}

Nest NestBuilder::list(const Nest& child, Displacements displacements) {
    if (displacements.empty() || child.root_ < 0) {
        return Nest{};
    }
    if (progression(displacements, 0) == displacements.size()) {
        const auto count = static_cast<std::int64_t>(displacements.size());
        const std::int64_t stride = count > 1 ? displacements[1] - displacements[0] : 0;
        return shifted(repeated(child, count, stride), displacements[0]);
    }
    if (!touches(child, displacements)) {
        return same(child, displacements);
    }
    NestBuilder builder;
    const std::int32_t only = builder.add(shifted(child, -child.origin_));
    for (const std::int64_t displacement : displacements) {
        builder.append(only, checked_add(displacement, child.origin_));
    }
    return builder.finish();
}

// Precondition: at least two displacements, of which no two touch.
Nest NestBuilder::same(const Nest& child, Displacements displacements) {
    const auto count = static_cast<std::int64_t>(displacements.size());
    const std::size_t group = group_of(displacements);
    if (group > 1) {
        Nest inner =
            repeated(child, static_cast<std::int64_t>(group), displacements[1] - displacements[0]);
        std::vector<std::int64_t> starts;
        for (std::size_t i = 0; i < displacements.size(); i += group) {
            starts.push_back(displacements[i]);
        }
        return starts.size() == 1 ? shifted(std::move(inner), starts[0]) : list(inner, starts);
    }
    NestBuilder builder;
    if (child.footprint() <= child_footprint_max) {
        const std::int32_t only = builder.add(shifted(child, -child.origin_));
        builder.entries_.reserve(displacements.size());
        for (const std::int64_t displacement : displacements) {
            builder.append(only, checked_add(displacement, child.origin_));
        }
        if (builder.compress(displacements.size() * sizeof(std::int64_t))) {
            return builder.finish();
        }
    }
    Nest nest = shifted(child, displacements[0]);
    const auto first = static_cast<std::int64_t>(nest.displacements_.size());
    nest.displacements_.reserve(nest.displacements_.size() + displacements.size());
    for (const std::int64_t displacement : displacements) {
        nest.displacements_.push_back(checked_subtract(displacement, displacements[0]));
    }
    push(nest,
         NestLoop{.kind = LoopKind::list, .child = nest.root_, .count = count, .first = first});
    return nest;
}

// Precondition: the first byte of `child` in stream order is at displacement 0.
std::int32_t NestBuilder::add(Nest child) {
    constexpr std::size_t compared_max = 32;
    const auto next = static_cast<std::int32_t>(palette_.size());
    const std::int64_t length = length_of(child);
    if (length > 0) {
        const auto [found, inserted] = runs_.try_emplace(length, next);
        if (!inserted) {
            return found->second;
        }
    } else {
        const std::size_t first = palette_.size() - std::min(palette_.size(), compared_max);
        for (std::size_t i = palette_.size(); i > first; --i) {
            if (palette_[i - 1] == child) {
                return static_cast<std::int32_t>(i - 1);
            }
        }
    }
    palette_.push_back(std::move(child));
    return next;
}

void NestBuilder::append(std::int32_t child, std::int64_t displacement) {
    entries_.push_back(PaletteEntry{child, displacement});
}

void NestBuilder::join_runs() {
    std::vector<PaletteEntry> joined;
    joined.reserve(entries_.size());
    std::int64_t last = -1;  // length of the last run in `joined`
    for (const PaletteEntry& entry : entries_) {
        const std::int64_t length = length_of(palette_[at(entry.child)]);
        if (length > 0 && last > 0 && entry.displacement - joined.back().displacement == last) {
            last = checked_add(last, length);
            joined.back().child = -1;
            continue;
        }
        if (last > 0 && joined.back().child < 0) {
            joined.back().child = add(Nest::run(last));
        }
        joined.push_back(entry);
        last = length;
    }
    if (last > 0 && joined.back().child < 0) {
        joined.back().child = add(Nest::run(last));
    }
    entries_ = std::move(joined);
}

// The length of the arithmetic progression of one child that begins at entry `from`.
std::size_t NestBuilder::progression_at(std::size_t from) const noexcept {
    std::size_t end = from + 1;
    while (end < entries_.size() && entries_[end].child == entries_[from].child &&
           (end == from + 1 || entries_[end].displacement - entries_[end - 1].displacement ==
                                   entries_[from + 1].displacement - entries_[from].displacement)) {
        ++end;
    }
    return end - from;
}

// Replaces long progressions by repeats if the entries then take less than `cost_before` bytes.
bool NestBuilder::compress(std::size_t cost_before) {
    std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, std::int32_t> known;
    std::vector<Nest> added;
    std::vector<PaletteEntry> shorter;
    std::size_t cost = 0;
    for (std::size_t i = 0; i < entries_.size();) {
        const PaletteEntry entry = entries_[i];
        const std::size_t length = progression_at(i);
        const Nest& child = palette_[at(entry.child)];
        cost += entry_cost;
        if (length < progression_min || child.footprint() > child_footprint_max) {
            shorter.push_back(entry);
            ++i;
        } else {
            const auto count = static_cast<std::int64_t>(length);
            const std::int64_t stride = entries_[i + 1].displacement - entry.displacement;
            const auto [found, inserted] =
                known.try_emplace({entry.child, count, stride},
                                  static_cast<std::int32_t>(palette_.size() + added.size()));
            if (inserted) {
                added.push_back(repeated(child, count, stride));
                cost += sizeof(NestLoop) * (child.loops_.size() + 1);
            }
            shorter.push_back(PaletteEntry{found->second, entry.displacement});
            i += length;
        }
        if (cost >= cost_before) {
            return false;
        }
    }
    std::move(added.begin(), added.end(), std::back_inserter(palette_));
    entries_ = std::move(shorter);
    return true;
}

Nest NestBuilder::finish() {
    if (entries_.empty()) {
        return Nest{};
    }
    join_runs();
    do {
        const std::int32_t child = entries_.front().child;
        if (std::all_of(entries_.begin(), entries_.end(),
                        [&](const PaletteEntry& entry) { return entry.child == child; })) {
            std::vector<std::int64_t> displacements;
            displacements.reserve(entries_.size());
            for (const PaletteEntry& entry : entries_) {
                displacements.push_back(entry.displacement);
            }
            return list(palette_[at(child)], displacements);
        }
    } while (compress(entries_.size() * entry_cost));
    return emit();
}

Nest NestBuilder::emit() const {
    Nest nest;
    std::vector<std::int32_t> roots(palette_.size(), -1);
    for (const PaletteEntry& entry : entries_) {
        if (roots[at(entry.child)] < 0) {
            roots[at(entry.child)] = adopt(nest, palette_[at(entry.child)]);
        }
    }
    NestLoop loop{.kind = LoopKind::each,
                  .count = static_cast<std::int64_t>(entries_.size()),
                  .first = static_cast<std::int64_t>(nest.displacements_.size()),
                  .first_child = static_cast<std::int64_t>(nest.children_.size()),
                  .first_sum = static_cast<std::int64_t>(nest.sizes_before_.size())};
    nest.origin_ = entries_.front().displacement;
    nest.displacements_.reserve(nest.displacements_.size() + entries_.size());
    nest.children_.reserve(nest.children_.size() + entries_.size());
    nest.sizes_before_.reserve(nest.sizes_before_.size() + (entries_.size() + 7) / 8);
    for (const PaletteEntry& entry : entries_) {
        nest.displacements_.push_back(checked_subtract(entry.displacement, nest.origin_));
        nest.children_.push_back(roots[at(entry.child)]);
    }
    push(nest, loop);
    return nest;
}

Nest Nest::run(std::int64_t length) {
    expects(length >= 0, "a run's length is not negative");
    Nest nest;
    if (length > 0) {
        NestBuilder::push(nest, NestLoop{.length = length});
    }
    return nest;
}

Nest Nest::shifted(const Nest& child, std::int64_t displacement) {
    return NestBuilder::shifted(child, displacement);
}

Nest Nest::repeat(const Nest& child, std::int64_t count, std::int64_t stride) {
    expects(count >= 0, "a count is not negative");
    return NestBuilder::repeated(child, count, stride);
}

Nest Nest::list(const Nest& child, std::span<const std::int64_t> displacements) {
    return NestBuilder::list(child, displacements);
}

Nest Nest::each(std::span<const Nest> children, std::span<const std::int64_t> displacements) {
    expects(children.size() == displacements.size(), "every child has a displacement");
    NestBuilder builder;
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (children[i].size() > 0) {
            const std::int64_t origin = children[i].origin();
            builder.append(builder.add(shifted(children[i], -origin)),
                           checked_add(displacements[i], origin));
        }
    }
    return builder.finish();
}

Nest Nest::each(std::span<const Nest> palette, std::span<const std::int32_t> which,
                std::span<const std::int64_t> displacements) {
    expects(which.size() == displacements.size(), "every child has a displacement");
    NestBuilder builder;
    std::vector<std::int32_t> added;
    for (const Nest& child : palette) {
        added.push_back(child.size() > 0 ? builder.add(shifted(child, -child.origin())) : -1);
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
        expects(which[i] >= 0 && at(which[i]) < palette.size(), "an entry names a child");
        if (added[at(which[i])] >= 0) {
            builder.append(added[at(which[i])],
                           checked_add(displacements[i], palette[at(which[i])].origin()));
        }
    }
    return builder.finish();
}

Nest Nest::blocks(const Nest& unit, std::int64_t stride, std::span<const std::int64_t> counts,
                  std::span<const std::int64_t> displacements) {
    expects(counts.size() == displacements.size(), "every block has a displacement");
    NestBuilder builder;
    std::unordered_map<std::int64_t, std::int32_t> known;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        expects(counts[i] >= 0, "a count is not negative");
        if (counts[i] == 0 || unit.size() == 0) {
            continue;
        }
        auto found = known.find(counts[i]);
        if (found == known.end()) {
            Nest block = repeat(shifted(unit, -unit.origin()), counts[i], stride);
            found = known.emplace(counts[i], builder.add(std::move(block))).first;
        }
        builder.append(found->second, checked_add(displacements[i], unit.origin()));
    }
    return builder.finish();
}

}  // namespace forebay::pattern
