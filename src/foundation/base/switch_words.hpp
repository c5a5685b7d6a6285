// Boolean words, the same in settings, hints and options, in any case: 1, true, yes, on and enable;
// 0, false, no, off and disable. (ROMIO's hints use enable, IOR's options TRUE.) A header without a
// source, because what is preloaded links no archive of this layer as a whole.
#pragma once

#include "foundation/base/letters.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace forebay {

// nullopt for any other word.
[[nodiscard]] constexpr std::optional<bool> parse_switch(std::string_view word) noexcept {
    constexpr std::array<std::string_view, 5> on{"1", "true", "yes", "on", "enable"};
    constexpr std::array<std::string_view, 5> off{"0", "false", "no", "off", "disable"};
    const auto same = [word](std::string_view one) {
        return std::ranges::equal(word, one, [](char a, char b) { return lower(a) == b; });
    };
    return std::ranges::any_of(on, same)    ? std::optional(true)
           : std::ranges::any_of(off, same) ? std::optional(false)
                                            : std::nullopt;
}

// Whether the value of an environment variable switches something on, or off; null: it is not set.
[[nodiscard]] constexpr bool switches_on(const char* value) noexcept {
    return value != nullptr && parse_switch(value) == std::optional(true);
}

[[nodiscard]] constexpr bool switches_off(const char* value) noexcept {
    return value != nullptr && parse_switch(value) == std::optional(false);
}

}  // namespace forebay
