// Converts file names as MPI programs give them to paths for the kernel.
#pragma once

#include "settings/settings.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace forebay {

// The absolute path of `name`, without ROMIO's prefix of a plain file system ("ufs:", "nfs:",
// "lustre:" …). nullopt if the prefix is another one, or the working directory cannot be
// determined.
[[nodiscard]] std::optional<std::string> plain_path(std::string_view name);

// Whether the setting `exclude` lists the file or a directory that contains it.
[[nodiscard]] bool is_excluded(std::string_view path, const UserSettings& settings);

}  // namespace forebay
