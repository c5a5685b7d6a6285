// Converts indices of 64-bit arithmetic to std::size_t, which containers take.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::pattern {

constexpr std::size_t at(std::int64_t index) noexcept { return static_cast<std::size_t>(index); }

}  // namespace forebay::pattern
