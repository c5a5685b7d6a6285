// Finds and removes mounts over a path by the kernel's list (/proc/self/mountinfo): a call on the
// mount itself could hang in uninterruptible sleep if nobody serves it.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace forebay::mount {

// The name (fsname) under which a mount by process `server` is listed.
[[nodiscard]] std::string mount_name(pid_t server);

struct MountEntry {
    std::string name;              // empty: the mount is not ours
    std::uint32_t connection = 0;  // number of the kernel's FUSE connection
};
// The mounts over `path`, the topmost last.
[[nodiscard]] std::vector<MountEntry> mounts_over(const std::string& path);
// The name of the topmost mount over `path` if it is one of ours; otherwise empty.
[[nodiscard]] std::string name_over(const std::string& path);
// Whether the server of a mount of ours has died.
[[nodiscard]] bool is_dead(const std::string& name);
// Unmounts lazily (MNT_DETACH): open files stay usable while the server lives. False: the mount is
// still there.
bool unmount_lazily(const std::string& path);
// The same for a mount whose server is dead: requests that it has not answered fail, as far as this
// process may have them fail.
bool unmount_by_force(const std::string& path);
// The file by which the requests of a FUSE connection are failed; root may have to mount fusectl.
[[nodiscard]] std::string abort_file(std::uint32_t connection);
// Fails the requests of a connection (0: not known). False: this process cannot.
bool end_connection(std::uint32_t connection);
// Whether this process can fail requests, by end_connection() or unmount_by_force().
[[nodiscard]] bool can_end_connection(std::uint32_t connection);

}  // namespace forebay::mount
