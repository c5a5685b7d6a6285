// The user's rules for files below a folder (setting pool_folders): "PATH WORD…".
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::pool {

// Where a rule says nothing, the settings for all files hold.
struct FileRule {
    bool past = false;                           // its files go past the pool
    std::optional<std::int64_t> window_bytes{};  // at least 1 MiB
    std::optional<bool> sync_to_journal{};
    bool operator==(const FileRule&) const noexcept = default;
};

struct FolderRule {
    std::string path;  // absolute, without a slash at its end
    FileRule rule{};
    bool operator==(const FolderRule&) const noexcept = default;
};

// Words are read from the end of the text, so that paths may have blanks: "past", "window=SIZE",
// "fsync=node" and "fsync=global". A relative path lies below `here`. ErrorCode::argument: a text
// without words, an unknown one, two that contradict each other, a folder that was named before.
[[nodiscard]] Result<std::vector<FolderRule>> folder_rules(const std::vector<std::string>& texts,
                                                           std::string_view here);

// That of the longest path which is the file's own or that of a folder above it; nothing is taken
// from shorter ones.
[[nodiscard]] FileRule rule_of(const std::vector<FolderRule>& rules, std::string_view file);

}  // namespace forebay::pool
