// Amounts as users write and read them, everywhere the same: "4k", "64KiB", "16MB", "0.5m", "1
// MiB", and rates: "2GB/s". Settings, benchmarks and platforms read them here.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay {

// A number and k, m, g, t, p or e for 2^10 … 2^60, in either case; letters after it are ignored as
// IOR ignores them ("512kb", "256gm"). A fraction must come to whole bytes. May be negative.
Result<std::int64_t> parse_size(std::string_view text);

// The same before "/s", in bytes a second, with one difference: as makers of links and disks write
// rates, k, M, G … are powers of 1000 there, and Ki, Mi, Gi … of 1024. Not negative.
Result<double> parse_rate(std::string_view text);

// "262144 bytes" below 1 MiB, else "4 MiB", "1.50 GiB": as IOR's options block writes sizes.
[[nodiscard]] std::string human_size(std::int64_t bytes);

}  // namespace forebay
