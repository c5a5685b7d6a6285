// How often a file was used lately: a count of its uses, of which each loses half of its weight in
// an hour (least frequently used, with aging). Pure.
#pragma once

#include <cmath>
#include <cstdint>

namespace forebay::tier {

inline constexpr std::int64_t heat_half_life_ns = 3'600'000'000'000;

// The heat of a file after `elapsed_ns` without a use. A clock that went back ages nothing.
[[nodiscard]] inline double cooled(double heat, std::int64_t elapsed_ns) noexcept {
    const double halves = static_cast<double>(elapsed_ns) / static_cast<double>(heat_half_life_ns);
    return elapsed_ns <= 0 ? heat : heat * std::exp2(-halves);
}

// The heat after one more use.
[[nodiscard]] inline double heated(double heat, std::int64_t elapsed_ns) noexcept {
    return cooled(heat, elapsed_ns) + 1;
}

// The order of replicas by heat, coldest first: at any one time, that of cooled(). Since all of
// them cool alike, it does not change while nobody uses them, so that it can be kept. The binary
// logarithm of the heat, plus the time of the last use in half-lives; precise to a microsecond of
// that time. A use in the future, by a clock that went back, counts as that much later.
[[nodiscard]] inline double heat_order(double heat, std::int64_t used_ns) noexcept {
    return std::log2(heat) + static_cast<double>(used_ns) / static_cast<double>(heat_half_life_ns);
}

}  // namespace forebay::tier
