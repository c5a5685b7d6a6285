// For tests and fuzzers only: builds, from arbitrary bytes, a nest together with its meaning as a
// flattened list (the displacement of every data byte in stream order), which is made without
// loops.
#pragma once

#include "foundation/pattern/nest.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::pattern::oracle {

// A source of decisions made from arbitrary bytes; it yields zeros when they are used up.
class Choices {
public:
    explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    [[nodiscard]] std::int64_t below(std::int64_t bound) {
        std::int64_t value = next();
        value = bound > 256 ? value * 256 + next() : value;
        return bound <= 0 ? 0 : value % bound;
    }
    [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + below(high - low + 1);
    }

private:
    std::uint8_t next() {
        const std::uint8_t value = used_ < bytes_.size() ? bytes_[used_] : std::uint8_t{0};
        ++used_;
        return value;
    }
    std::span<const std::uint8_t> bytes_;
    std::size_t used_ = 0;
};

struct Sample {
    Nest nest;
    std::vector<std::int64_t> bytes;
};

enum class Order { any, ascending };

constexpr std::size_t bytes_max = 3000;

inline void place(const Sample& child, std::int64_t displacement, std::vector<std::int64_t>& out) {
    for (const std::int64_t byte : child.bytes) {
        out.push_back(byte + displacement);
    }
}

// A displacement at which to append `child` to `out`: arbitrary, or not before the end of `out` if
// the data must ascend.
inline std::int64_t displacement_for(const Sample& child, const std::vector<std::int64_t>& out,
                                     Order order, Choices& choices) {
    const std::int64_t gap = choices.below(2) == 0 ? 0 : choices.below(24);
    if (order == Order::any && choices.below(2) == 0) {
        return choices.between(-100, 100);
    }
    const std::int64_t end = out.empty() ? 0 : out.back() + 1;
    return end + gap - (child.bytes.empty() ? 0 : child.bytes.front());
}

Sample sample(Choices& choices, int depth, Order order);

inline Sample sample_repeat(Choices& choices, const Sample& child, Order order) {
    const std::int64_t count = choices.below(12) == 0 ? choices.below(200) : choices.below(6);
    Sample made;
    const std::int64_t span =
        child.bytes.empty() ? 0 : child.bytes.back() + 1 - child.bytes.front();
    const std::int64_t stride = order == Order::any && choices.below(3) == 0
                                    ? choices.between(-60, 60)
                                    : span + (choices.below(2) == 0 ? 0 : choices.below(20));
    for (std::int64_t i = 0; i < count; ++i) {
        place(child, i * stride, made.bytes);
    }
    made.nest = Nest::repeat(child.nest, count, stride);
    return made;
}

inline Sample sample_list(Choices& choices, const Sample& child, Order order) {
    const std::int64_t count = choices.below(8) == 0 ? choices.below(100) : choices.below(7);
    Sample made;
    std::vector<std::int64_t> displacements;
    for (std::int64_t i = 0; i < count; ++i) {
        displacements.push_back(displacement_for(child, made.bytes, order, choices));
        place(child, displacements.back(), made.bytes);
    }
    made.nest = Nest::list(child.nest, displacements);
    return made;
}

inline Sample sample_blocks(Choices& choices, const Sample& unit, Order order) {
    Sample made;
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> displacements;
    const std::int64_t span = unit.bytes.empty() ? 0 : unit.bytes.back() + 1 - unit.bytes.front();
    const std::int64_t stride = span + choices.below(3);
    for (std::int64_t i = choices.below(7); i > 0; --i) {
        counts.push_back(choices.below(4));
        displacements.push_back(displacement_for(unit, made.bytes, order, choices));
        for (std::int64_t k = 0; k < counts.back(); ++k) {
            place(unit, displacements.back() + k * stride, made.bytes);
        }
    }
    made.nest = Nest::blocks(unit.nest, stride, counts, displacements);
    return made;
}

inline Sample sample_each(Choices& choices, int depth, Order order) {
    Sample made;
    std::vector<Nest> palette;
    std::vector<std::int32_t> which;
    std::vector<Nest> children;
    std::vector<Sample> samples;
    for (std::int64_t i = choices.between(1, 3); i > 0; --i) {
        // Only the first child is deep: with three deep children the size grows exponentially with
        // depth.
        const int deep = samples.empty() ? depth - 1 : std::min(depth - 1, 2);
        samples.push_back(sample(choices, deep, order));
        palette.push_back(samples.back().nest);
    }
    std::vector<std::int64_t> displacements;
    const std::int64_t count = choices.below(8) == 0 ? choices.below(60) : choices.below(6);
    for (std::int64_t i = 0; i < count && made.bytes.size() < bytes_max; ++i) {
        which.push_back(
            static_cast<std::int32_t>(choices.below(static_cast<std::int64_t>(samples.size()))));
        const Sample& child = samples[static_cast<std::size_t>(which.back())];
        children.push_back(child.nest);
        displacements.push_back(displacement_for(child, made.bytes, order, choices));
        place(child, displacements.back(), made.bytes);
    }
    made.nest = choices.below(2) == 0 ? Nest::each(palette, which, displacements)
                                      : Nest::each(children, displacements);
    return made;
}

inline Sample sample_run(Choices& choices) {
    constexpr std::int64_t lengths[] = {1, 2, 4, 8, 16, 32, 64, 12, 24, 3, 5, 256, 0, 7};
    const Nest nest = Nest::run(lengths[choices.below(std::size(lengths))]);
    Sample made{nest, {}};
    for (std::int64_t i = 0; i < nest.size(); ++i) {
        made.bytes.push_back(i);
    }
    return made;
}

inline Sample sample(Choices& choices, int depth, Order order) {
    const std::int64_t kind = depth == 0 ? 0 : choices.below(8);
    if (kind == 0) {
        return sample_run(choices);
    }
    if (kind == 1) {
        return sample_each(choices, depth, order);
    }
    Sample child = sample(choices, depth - 1, order);
    Sample made;
    switch (kind) {
        case 2: {
            const std::int64_t displacement = choices.between(-50, 50);
            place(child, displacement, made.bytes);
            made.nest = Nest::shifted(child.nest, displacement);
            break;
        }
        case 3:
        case 4: made = sample_list(choices, child, order); break;
        case 5: made = sample_blocks(choices, child, order); break;
        default: made = sample_repeat(choices, child, order); break;
    }
    // Falls back to the child if the sample is too large for the byte-by-byte oracle.
    return made.bytes.size() > bytes_max ? child : made;
}

}  // namespace forebay::pattern::oracle
