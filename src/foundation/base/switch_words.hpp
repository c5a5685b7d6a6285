// The words that switch something on and off, in any case, everywhere the same: 1, true, yes, on
// and enable; 0, false, no, off and disable. (ROMIO's hints say enable, IOR's users TRUE.)
#pragma once

#include <optional>
#include <string_view>

namespace forebay {

// nullopt for any other word.
[[nodiscard]] std::optional<bool> parse_switch(std::string_view word) noexcept;

}  // namespace forebay
