// The user's rules for the files below a directory (setting pool_folders), each written as "PATH
// WORD…", and which rule applies to a file.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::pool {

// A rule for files. For a field without a value the setting for all files applies.
struct FileRule {
    bool past = false;                           // the files bypass the pool
    std::optional<std::int64_t> window_bytes{};  // write-behind window, at least 1 MiB
    std::optional<bool> sync_to_journal{};       // fsync returns when the journal has the bytes
    bool operator==(const FileRule&) const noexcept = default;
};

struct FolderRule {
    std::string path;  // absolute, without a trailing slash
    FileRule rule{};
    bool operator==(const FolderRule&) const noexcept = default;
};

// Parses the rules. Words are read from the end of each text, so that paths may contain blanks:
// "past", "window=SIZE", "fsync=node" and "fsync=global". A relative path is taken relative to
// `here`. Returns ErrorCode::argument if a text has no word, a malformed one, two that contradict
// each other, or a directory that another text has.
[[nodiscard]] Result<std::vector<FolderRule>> folder_rules(const std::vector<std::string>& texts,
                                                           std::string_view here);

// The rule with the longest path that is `file` itself or a directory above it. Rules with shorter
// paths add nothing to it.
[[nodiscard]] FileRule rule_of(const std::vector<FolderRule>& rules, std::string_view file);

}  // namespace forebay::pool
