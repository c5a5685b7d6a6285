// File names as MPI programs give them, and as the kernel takes them.
#pragma once

#include "settings/settings.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace forebay {

// The absolute path behind `name`: ROMIO's prefixes of plain file systems ("ufs:", "nfs:",
// "lustre:" …) are stripped. nullopt where the prefix names something that is no plain path.
[[nodiscard]] std::optional<std::string> plain_path(std::string_view name);

// Whether setting `exclude` has the file or a folder above it.
[[nodiscard]] bool is_excluded(std::string_view path, const UserSettings& settings);

}  // namespace forebay
