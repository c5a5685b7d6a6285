// Formats a number with its noun for messages: "1 rank", "4 ranks".
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace forebay {

// `one` is the noun in the singular; its plural ends in s.
[[nodiscard]] inline std::string counted(std::int64_t number, std::string_view one) {
    return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
}

}  // namespace forebay
