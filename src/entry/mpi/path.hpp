// File names as MPI programs give them, and as the kernel takes them.
#pragma once

#include "entry/mpi/settings.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace forebay::entry {

// The absolute path behind `name`: ROMIO's prefixes of plain file systems ("ufs:", "nfs:",
// "lustre:" …) are stripped. nullopt where the prefix names something that is no plain path.
[[nodiscard]] std::optional<std::string> plain_path(std::string_view name);

// Whether a prefix of setting `exclude` matches.
[[nodiscard]] bool is_excluded(const std::string& path, const Settings& settings);

}  // namespace forebay::entry
