// Finds and removes mounts over a path by the kernel's list (/proc/self/mountinfo): a call on the
// mount itself could hang in uninterruptible sleep if nobody serves it.
#pragma once

#include <string>
#include <sys/types.h>

namespace forebay::mount {

// The name (fsname) under which a mount by process `server` is listed.
[[nodiscard]] std::string mount_name(pid_t server);
// The name of the topmost mount over `path` if it is one of ours; otherwise empty.
[[nodiscard]] std::string name_over(const std::string& path);
// Unmounts lazily (MNT_DETACH): open files stay usable while the server lives. False: the mount is
// still there.
bool unmount_lazily(const std::string& path);
// unmount_lazily(), if the mount is ours and its server has died. False: it is not, or it is still
// there.
bool forget_dead_mount(const std::string& path);

}  // namespace forebay::mount
