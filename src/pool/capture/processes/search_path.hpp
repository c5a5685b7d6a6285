// The paths at which execvp and posix_spawnp look for a program, in their order. Whether a file is
// there is not examined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace forebay::capture {

inline constexpr std::size_t search_path_max = 4096;  // bytes of a path, as libc's PATH_MAX

// The directories that are searched, as PATH lists them.
[[nodiscard]] inline const char* searched_folders() noexcept {
    const char* const folders = std::getenv("PATH");
    return folders == nullptr ? "/bin:/usr/bin" : folders;
}

// Calls `act` with each path until it returns true. An empty entry of `folders` is the current
// directory, also the last one: "/bin:" has two entries, and "" has one. Paths that are too long
// are left out.
template <class Act>
void for_each_candidate(const char* folders, const char* file, const Act& act) noexcept {
    const std::size_t name = std::strlen(file) + 1;
    for (;;) {
        const std::size_t bytes = std::strcspn(folders, ":");
        std::array<char, search_path_max> path;
        if (bytes + 1 + name <= path.size()) {
            std::memcpy(path.data(), folders, bytes);
            path[bytes] = '/';
            std::memcpy(&path[bytes == 0 ? 0 : bytes + 1], file, name);
            if (act(static_cast<const char*>(path.data()))) {
                return;
            }
        }
        if (folders[bytes] == '\0') {
            return;
        }
        folders += bytes + 1;
    }
}

}  // namespace forebay::capture
