// Bitmaps consist of 64-bit words.
#pragma once

#include <cstdint>

namespace forebay::pattern {

inline constexpr std::int64_t bits_per_word = 64;
inline constexpr std::uint64_t all_bits = ~std::uint64_t{0};

}  // namespace forebay::pattern
