// Boolean words, the same in settings, hints and options, in any case: 1, true, yes, on and enable;
// 0, false, no, off and disable. (ROMIO's hints use enable, IOR's options TRUE.)
#pragma once

#include <optional>
#include <string_view>

namespace forebay {

// nullopt for any other word.
[[nodiscard]] std::optional<bool> parse_switch(std::string_view word) noexcept;

}  // namespace forebay
