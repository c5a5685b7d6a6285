// Lower case for case-insensitive names and units: ASCII letters only, independent of the locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace forebay {

[[nodiscard]] constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

[[nodiscard]] inline std::string lowered(std::string_view text) {
    std::string made(text);
    std::ranges::transform(made, made.begin(), lower);
    return made;
}

}  // namespace forebay
