// Rank 0's access to the k that earlier runs found (collective/engine/limit_memory): it finds out
// the cache file, the file system and the time. Without a cache file nothing is remembered, and no
// message says so.
#pragma once

#include "collective/engine/limit_memory.hpp"
#include "settings/settings.hpp"
#include "storage/policy/tuning.hpp"

#include <string>

namespace forebay::interposer {

// Whether k is searched, and the result is kept for later runs.
[[nodiscard]] bool remembers_limits(const UserSettings& settings);

// Both are for the file `path`. With setting `verbose` a line says what went wrong.
[[nodiscard]] engine::FoundLimits recall_limits(const UserSettings& settings,
                                                const std::string& path, const FileStripes& layout);
void remember_limits(const UserSettings& settings, const std::string& path,
                     const FileStripes& layout, const engine::FoundLimits& found);

}  // namespace forebay::interposer
