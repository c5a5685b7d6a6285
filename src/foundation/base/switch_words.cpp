// The table of words behind parse_switch().
#include "foundation/base/switch_words.hpp"

#include <algorithm>
#include <array>

namespace forebay {

namespace {

bool same(std::string_view word, std::string_view lower) noexcept {
    return std::ranges::equal(word, lower, [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b;
    });
}

}  // namespace

std::optional<bool> parse_switch(std::string_view word) noexcept {
    constexpr std::array<std::string_view, 5> on{"1", "true", "yes", "on", "enable"};
    constexpr std::array<std::string_view, 5> off{"0", "false", "no", "off", "disable"};
    const auto is_one_of = [word](const auto& words) {
        return std::ranges::any_of(words, [word](std::string_view one) { return same(word, one); });
    };
    return is_one_of(on)    ? std::optional(true)
           : is_one_of(off) ? std::optional(false)
                            : std::nullopt;
}

}  // namespace forebay
