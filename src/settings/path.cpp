// Resolves ROMIO's file system prefixes and relative names.
#include "settings/path.hpp"

#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <unistd.h>

namespace forebay {

namespace {

constexpr std::array<std::string_view, 5> plain_prefixes{"ufs", "nfs", "lustre", "xfs", "gpfs"};

// "ufs" of "ufs:/x"; empty if there is no prefix. A slash before the colon means that there is
// none.
std::string_view prefix_of(std::string_view name) noexcept {
    const std::size_t colon = name.find(':');
    if (colon == std::string_view::npos || colon < 2 || name.find('/') < colon) {
        return {};
    }
    const std::string_view prefix = name.substr(0, colon);
    const auto letter = [](unsigned char c) {
        return std::islower(c) != 0 || std::isdigit(c) != 0;
    };
    return std::ranges::all_of(prefix, letter) ? prefix : std::string_view{};
}

}  // namespace

std::optional<std::string> plain_path(std::string_view name) {
    const std::string_view prefix = prefix_of(name);
    if (!prefix.empty()) {
        if (std::ranges::find(plain_prefixes, prefix) == plain_prefixes.end()) {
            return std::nullopt;
        }
        name.remove_prefix(prefix.size() + 1);
    }
    if (name.starts_with('/')) {
        return std::string(name);
    }
    std::array<char, 4096> folder{};
    // For a directory outside of the root the system call returns "(unreachable)/…", where libc
    // fails.
    if (kernel::getcwd(folder.data(), folder.size()) < 0 || folder.front() != '/') {
        return std::nullopt;
    }
    return std::string(folder.data()) + "/" + std::string(name);
}

bool is_excluded(std::string_view path, const UserSettings& settings) {
    const auto matches = [&](const std::string& excluded) {
        if (excluded.empty() || !path.starts_with(excluded)) {
            return false;
        }
        return path.size() == excluded.size() || excluded.ends_with('/') ||
               path[excluded.size()] == '/';
    };
    return std::ranges::any_of(settings.list(Setting::exclude), matches);
}

}  // namespace forebay
