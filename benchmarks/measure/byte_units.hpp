// Sizes in IOR's spelling: "4k", "64KiB", "10MB", "0.5m", "1 MiB".
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::measure {

// Parses a number followed by k, m, g, t, p or e (2^10 … 2^60, in either case). Letters after that
// are ignored as in IOR ("512kb", "256gm"). A fraction must come to whole bytes. May be negative.
Result<std::int64_t> parse_size(std::string_view text);

// "262144 bytes" below 1 MiB, else "4 MiB", "1.50 GiB", as in IOR's options block.
[[nodiscard]] std::string human_size(std::int64_t bytes);

}  // namespace forebay::measure
