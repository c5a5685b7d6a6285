// Reads /proc/self/mountinfo; unmounts by umount2, or by fusermount3 for users without that
// privilege.
#include "pool/mount/serving/mounted_path.hpp"

#include "foundation/base/mount_table.hpp"
#include "foundation/base/own_fd.hpp"
#include "pool/mount/serving/mount_helper.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string_view>
#include <sys/mount.h>
#include <unistd.h>
#include <vector>

namespace forebay::mount {

namespace {

constexpr std::string_view prefix = "forebay-mount:";

}  // namespace

std::string abort_file(std::uint32_t connection) {
    return "/sys/fs/fuse/connections/" + std::to_string(connection) + "/abort";
}

std::string mount_name(pid_t server) { return std::string{prefix} + std::to_string(server); }

// Fields of a line: number, parent, device, root, mount point, options, …, "-", type, name,
// options.
std::vector<MountEntry> mounts_over(const std::string& path) {
    std::ifstream list{"/proc/self/mountinfo"};
    std::vector<MountEntry> found;
    for (std::string line; std::getline(list, line);) {
        std::istringstream words{line};
        std::vector<std::string> all;
        for (std::string word; words >> word;) {
            all.push_back(word);
        }
        std::size_t dash = 5;
        while (dash < all.size() && all[dash] != "-") {
            ++dash;
        }
        if (dash + 2 < all.size() && unescaped_mount_field(all[4]) == path) {
            const std::string& name = all[dash + 2];
            const bool ours = all[dash + 1] == "fuse.forebay" && name.starts_with(prefix);
            // FUSE has one connection for each device; its major number is 0.
            const std::string minor = all[2].substr(all[2].find(':') + 1);
            found.push_back({.name = ours ? name : "",
                             .connection = static_cast<std::uint32_t>(std::stoul(minor))});
        }
    }
    return found;
}

std::string name_over(const std::string& path) {
    const std::vector<MountEntry> all = mounts_over(path);
    return all.empty() ? "" : all.back().name;
}

bool is_dead(const std::string& name) {
    std::ifstream process{"/proc/" + name.substr(prefix.size()) + "/comm"};
    std::string program;
    std::getline(process, program);
    return program != "forebay-mount";
}

bool can_end_connection(std::uint32_t connection) {
    return ::geteuid() == 0 || ::access(abort_file(connection).c_str(), W_OK) == 0;
}

bool end_connection(std::uint32_t connection) {
    const OwnFd file{
        connection == 0 ? -1 : ::open(abort_file(connection).c_str(), O_WRONLY | O_CLOEXEC)};
    return file.valid() && ::write(file.get(), "1", 1) == 1;
}

bool unmount_by_force(const std::string& path) {
    return ::umount2(path.c_str(), MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW) == 0 ||
           unmount_lazily(path);
}

bool unmount_lazily(const std::string& path) {
    if (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
        return true;
    }
    return errno == EPERM && unmount_by_helper(path);
}

}  // namespace forebay::mount
