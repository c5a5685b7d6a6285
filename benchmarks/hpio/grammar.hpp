// The text form of patterns; one text describes a whole sweep:
//   hpio:count=4..4096*4,size=1k,space=128,mem=c|nc,file=nc
//   block:shape=360x180x50,grid=2x2x1,element=8
//   subarray:shape=…,start=1x0x0,part=10x180x50,halo=2x2x0
//   cyclic:shape=1024x1024,block=16x8
//
// Numbers may have k, m, g … for powers of 1024; a|b|c lists values, a..b doubles, a..b*f
// multiplies.
#pragma once

#include "benchmarks/hpio/pattern.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::hpio {

inline constexpr std::size_t points_max = 10'000;

// "4..64*4" → 4, 16, 64.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_values(std::string_view text);

// All patterns that the text describes, the last key varying fastest.
[[nodiscard]] Result<std::vector<Pattern>> parse_patterns(std::string_view text);

}  // namespace forebay::hpio
