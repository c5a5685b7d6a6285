// Parses and prints sizes as IOR does.
#include "benchmarks/measure/byte_units.hpp"

#include "foundation/base/byte_size.hpp"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace forebay::measure {

Result<std::int64_t> parse_size(std::string_view text) {
    return forebay::parse_size(text, UnitSpelling::first_letter);
}

std::string human_size(std::int64_t bytes) {
    constexpr std::array<std::pair<int, const char*>, 5> units{
        {{60, "EiB"}, {50, "PiB"}, {40, "TiB"}, {30, "GiB"}, {20, "MiB"}}};
    for (const auto& [bits, name] : units) {
        const std::int64_t unit = std::int64_t{1} << bits;
        if (bytes >= unit) {
            return bytes % unit == 0
                       ? fmt::format("{} {}", bytes / unit, name)
                       : fmt::format("{:.2f} {}",
                                     static_cast<double>(bytes) / static_cast<double>(unit), name);
        }
    }
    return bytes < 0 ? "-" : fmt::format("{} bytes", bytes);
}

}  // namespace forebay::measure
