// Parses the kernel's files. Their formats: proc(5) for mountinfo, cgroups(7) for cgroup, and the
// kernel's admin-guide/cgroup-v1/memory.rst and admin-guide/cgroup-v2.rst for the limits.
#include "pool/policy/memory_limit.hpp"

#include "foundation/base/mount_table.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace forebay::pool {

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::string_view controller = "memory";
constexpr std::string_view stat_name = "/memory.stat";
constexpr std::string_view least_above = "hierarchical_memory_limit ";

enum class CgroupVersion : std::uint8_t { one, two };

// A mounted cgroup hierarchy with a memory controller.
struct CgroupHierarchy {
    CgroupVersion version = CgroupVersion::two;
    std::string root;   // the cgroup at the root of the mount
    std::string point;  // mount point
};

// The text before the first `mark`, which is removed from `text` together with `mark`.
std::string_view split_off(std::string_view& text, char mark) noexcept {
    const std::string_view first = text.substr(0, text.find(mark));
    text.remove_prefix(std::min(first.size() + 1, text.size()));
    return first;
}

bool has_word(std::string_view list, std::string_view word) noexcept {
    while (!list.empty()) {
        if (split_off(list, ',') == word) {
            return true;
        }
    }
    return false;
}

// Without trailing slashes; "/" becomes "".
std::string folder_name(std::string_view path) {
    while (path.ends_with('/')) {
        path.remove_suffix(1);
    }
    return std::string{path};
}

// A line of mountinfo: "ID PARENT DEVICE ROOT POINT OPTIONS FIELDS… - TYPE SOURCE OPTIONS".
std::optional<CgroupHierarchy> hierarchy_of(std::string_view line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view after = line.substr(dash + 3);
    const std::string_view type = split_off(after, ' ');
    split_off(after, ' ');
    const bool counts_memory = type == "cgroup" && has_word(after, controller);
    if (!counts_memory && type != "cgroup2") {
        return std::nullopt;
    }
    std::string_view before = line.substr(0, dash);
    for (int passed = 0; passed < 3; ++passed) {
        split_off(before, ' ');
    }
    const std::string_view root = split_off(before, ' ');
    const std::string_view point = split_off(before, ' ');
    if (!point.starts_with('/')) {
        return std::nullopt;
    }
    return CgroupHierarchy{.version = counts_memory ? CgroupVersion::one : CgroupVersion::two,
                           .root = folder_name(unescaped_mount_field(root)),
                           .point = folder_name(unescaped_mount_field(point))};
}

// The cgroup of the process in the hierarchy of `version`. `groups` has lines
// "NUMBER:CONTROLLERS:PATH".
std::optional<std::string> group_in(std::string_view groups, CgroupVersion version) {
    while (!groups.empty()) {
        std::string_view line = split_off(groups, '\n');
        const std::string_view number = split_off(line, ':');
        const std::string_view controllers = split_off(line, ':');
        const bool is_it = version == CgroupVersion::one ? has_word(controllers, controller)
                                                         : number == "0" && controllers.empty();
        if (is_it) {
            return folder_name(line);
        }
    }
    return std::nullopt;
}

// The path of `group` relative to the root of the mount. nullopt: the group is not below it, as far
// as one can see; a group outside of a container's own one reads "/../other".
std::optional<std::string> below(const CgroupHierarchy& hierarchy, std::string_view group) {
    if (!group.starts_with(hierarchy.root)) {
        return std::nullopt;
    }
    std::string rest{group.substr(hierarchy.root.size())};
    const bool is_name = rest.empty() || rest.front() == '/';
    return is_name && (rest + "/").find("/../") == std::string::npos
               ? std::optional{std::move(rest)}
               : std::nullopt;
}

// Appends the limit files of `group` and of all cgroups above it, up to the root of the mount.
void name_files(const CgroupHierarchy& hierarchy, std::string group,
                std::vector<std::string>& files) {
    if (hierarchy.version == CgroupVersion::one) {
        files.push_back(hierarchy.point + group + std::string{stat_name});
    }
    while (true) {
        const std::string folder = hierarchy.point + group;
        if (hierarchy.version == CgroupVersion::one) {
            files.push_back(folder + "/memory.limit_in_bytes");
        } else {
            files.push_back(folder + "/memory.max");
            files.push_back(folder + "/memory.high");
        }
        if (group.empty()) {
            return;
        }
        group.erase(group.rfind('/'));
    }
}

void name_files_of(CgroupVersion version, std::string_view groups,
                   const std::vector<CgroupHierarchy>& hierarchies,
                   std::vector<std::string>& files) {
    const std::optional<std::string> group = group_in(groups, version);
    if (!group) {
        return;
    }
    const CgroupHierarchy* first = nullptr;
    bool found = false;
    for (const CgroupHierarchy& one : hierarchies) {
        if (one.version != version) {
            continue;
        }
        first = first == nullptr ? &one : first;
        if (auto name = below(one, *group)) {
            name_files(one, std::move(*name), files);
            found = true;
        }
    }
    if (!found && first != nullptr) {
        // In a container with a bind mount of the host's tree: the mount's root is the container's
        // own cgroup, or one above it.
        name_files(*first, "", files);
    }
}

std::optional<std::int64_t> number_at_start(std::string_view text) noexcept {
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} && number > 0 ? std::optional{number} : std::nullopt;
}

std::optional<std::int64_t> limit_in(std::string_view file, std::string_view text) noexcept {
    if (!file.ends_with(stat_name)) {
        return number_at_start(text);  // "max" means no limit
    }
    while (!text.empty()) {
        const std::string_view line = split_off(text, '\n');
        if (line.starts_with(least_above)) {
            return number_at_start(line.substr(least_above.size()));
        }
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::string> memory_limit_files(std::string_view groups, std::string_view mounts) {
    std::vector<CgroupHierarchy> hierarchies;
    while (!mounts.empty()) {
        if (auto one = hierarchy_of(split_off(mounts, '\n'))) {
            hierarchies.push_back(std::move(*one));
        }
    }
    std::vector<std::string> files;
    name_files_of(CgroupVersion::one, groups, hierarchies, files);
    name_files_of(CgroupVersion::two, groups, hierarchies, files);
    return files;
}

MemoryLimit lesser_limit(MemoryLimit limit, std::string_view file, std::string_view text) {
    const std::optional<std::int64_t> said = limit_in(file, text);
    // If the cgroup's own limit file gives the same number as its memory.stat, the plainer file is
    // named.
    const bool is_plainer = limit.file.ends_with(stat_name) && said == limit.bytes;
    if (said && (*said < limit.bytes || is_plainer)) {
        return {.bytes = *said, .file = std::string{file}};
    }
    return limit;
}

std::int64_t usual_cap(std::int64_t memory_bytes) noexcept {
    const std::int64_t usual = std::clamp(memory_bytes / 10, 64 * mebibyte, 16384 * mebibyte);
    return memory_bytes <= 0 ? usual : std::max(std::min(usual, memory_bytes / 4), cap_least);
}

bool has_no_room_for_dirty_pages(const MemoryLimit& limit) noexcept {
    return !limit.file.empty() && limit.bytes < dirty_room_min;
}

std::int64_t bounded_cap(std::int64_t wanted_bytes, const MemoryLimit& limit) noexcept {
    const std::int64_t most = limit.file.empty() ? wanted_bytes : limit.bytes / 2;
    return std::max(std::min(wanted_bytes, most), cap_least);
}

}  // namespace forebay::pool
