// What is mounted over a path, by the kernel's list: to ask the mount itself could take forever.
#pragma once

#include <string>
#include <sys/types.h>

namespace forebay::mount {

// The name by which a mount of ours is listed.
[[nodiscard]] std::string mount_name(pid_t server);
// The last of the mounts over the path, if it is one of ours: its name; else empty.
[[nodiscard]] std::string name_over(const std::string& path);
// Unmounts it, whoever uses it: what is open stays usable as long as somebody serves it. False: it
// is still there.
bool unmount_lazily(const std::string& path);
// The same, if it is one of ours whose process has gone. False: it is not, or it is still there.
bool forget_dead_mount(const std::string& path);

}  // namespace forebay::mount
