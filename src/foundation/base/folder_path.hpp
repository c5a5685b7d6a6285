// Which paths lie in a folder, by their names alone: links and `..` are not looked at.
#pragma once

#include <optional>
#include <string_view>

namespace forebay {

// The absolute path of a folder, without a slash at its end; "/" or "" is the root.
struct FolderPath {
    std::string_view path;

    // `file` relative to the folder; nullopt: it is not below it. The end of the result is the end
    // of `file`.
    [[nodiscard]] constexpr std::optional<std::string_view> name_of(
        std::string_view file) const noexcept {
        const std::string_view folder = path == "/" ? std::string_view{} : path;
        if (!file.starts_with(folder) || file.size() <= folder.size() + 1 ||
            file[folder.size()] != '/') {
            return std::nullopt;
        }
        file.remove_prefix(folder.size() + 1);  // substr could throw
        return file;
    }
    // Whether `file` is the folder or below it.
    [[nodiscard]] constexpr bool holds(std::string_view file) const noexcept {
        return file == path || name_of(file).has_value();
    }
};

}  // namespace forebay
