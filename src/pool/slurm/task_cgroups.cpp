// Formats: proc(5), cgroups(7).
#include "pool/slurm/task_cgroups.hpp"

#include "foundation/base/own_fd.hpp"
#include "foundation/base/text_parts.hpp"
#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <vector>

namespace forebay::slurm {

namespace {

bool has_part(std::string_view list, std::string_view wanted) {
    const std::vector<std::string_view> parts = parts_of(list, ',');
    return std::ranges::find(parts, wanted) != parts.end();
}

struct GroupPath {
    bool is_unified = false;  // version 2
    std::string_view path;    // from the root of its hierarchy
};

// Lines are "number:controllers:path".
std::optional<GroupPath> path_of(std::string_view groups) {
    std::optional<GroupPath> found;
    for (const std::string_view line : parts_of(groups, '\n')) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) {
            continue;
        }
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        if (has_part(controllers, "freezer")) {
            return GroupPath{false, line.substr(second + 1)};
        }
        if (controllers.empty()) {
            found = GroupPath{true, line.substr(second + 1)};
        }
    }
    return found;
}

// The group's folder below one mount, whose line is "id parent device ROOT PLACE options [tags...]
// - type source options"; nullopt if it is of another hierarchy, or shows another part of it.
std::optional<std::string> folder_in(std::string_view mount, const GroupPath& group) {
    constexpr std::string_view bar = " - ";
    const std::size_t end = mount.find(bar);
    const std::vector<std::string_view> front = parts_of(mount.substr(0, end), ' ');
    const std::vector<std::string_view> back = end == std::string_view::npos
                                                   ? std::vector<std::string_view>{}
                                                   : parts_of(mount.substr(end + bar.size()), ' ');
    if (front.size() < 5 || back.size() < 3 ||
        !(group.is_unified ? back[0] == "cgroup2"
                           : back[0] == "cgroup" && has_part(back[2], "freezer"))) {
        return std::nullopt;
    }
    const std::string_view root = front[3] == "/" ? "" : front[3];
    if (!group.path.starts_with(root) ||
        (group.path.size() > root.size() && group.path[root.size()] != '/')) {
        return std::nullopt;
    }
    return fmt::format("{}{}", front[4], group.path.substr(root.size()));
}

std::string groups_of(pid_t process) {
    return kernel::contents(fmt::format("/proc/{}/cgroup", process)).value_or("");
}

}  // namespace

std::optional<std::string> tracking_group(std::string_view groups, std::string_view mounts) {
    const std::optional<GroupPath> group = path_of(groups);
    if (group) {
        for (const std::string_view mount : parts_of(mounts, '\n')) {
            if (auto folder = folder_in(mount, *group)) {
                return folder;
            }
        }
    }
    return std::nullopt;
}

bool join_group_of(pid_t task, pid_t process) {
    const std::string mounts = kernel::contents("/proc/self/mountinfo").value_or("");
    const auto wanted = tracking_group(groups_of(task), mounts);
    if (!wanted || wanted == tracking_group(groups_of(process), mounts)) {
        return true;
    }
    const std::string path = *wanted + "/cgroup.procs";
    const OwnFd list{kernel::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    const std::string number = fmt::format("{}\n", process);
    return list.valid() && kernel::write(list.get(), number.data(), number.size()) ==
                               static_cast<ssize_t>(number.size());
}

}  // namespace forebay::slurm
