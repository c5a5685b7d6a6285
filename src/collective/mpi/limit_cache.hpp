// Rank 0's way to what earlier runs found of k (collective/engine/limit_memory): which file, which
// file system and what day it is. Without a cache file nothing is remembered, and nothing is said
// about it.
#pragma once

#include "collective/engine/limit_memory.hpp"
#include "settings/settings.hpp"
#include "storage/policy/tuning.hpp"

#include <string>

namespace forebay::interposer {

// k is to be found, and what is found is to be kept.
[[nodiscard]] bool remembers_limits(const UserSettings& settings);

// For the file `path`. With setting `verbose` a line says what went wrong.
[[nodiscard]] engine::FoundLimits recall_limits(const UserSettings& settings,
                                                const std::string& path, const FileStripes& layout);
void remember_limits(const UserSettings& settings, const std::string& path,
                     const FileStripes& layout, const engine::FoundLimits& found);

}  // namespace forebay::interposer
