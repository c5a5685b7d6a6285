// "1 rank", "4 ranks": for messages.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace forebay {

// `one`: the thing's name, whose plural ends in s.
[[nodiscard]] inline std::string counted(std::int64_t number, std::string_view one) {
    return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
}

}  // namespace forebay
