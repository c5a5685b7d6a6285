// Finds the user who has mounted a FUSE file system, in /proc/self/mountinfo: the mount of another
// user may claim anything about its files, also that they are other files of the daemon.
#pragma once

#include <optional>
#include <string_view>
#include <sys/types.h>

namespace forebay::capture {

// The user in a line of mountinfo, if it is about a FUSE file system that is `device`.
[[nodiscard]] std::optional<uid_t> owner_in(std::string_view line, dev_t device) noexcept;
// Whether this user, or root, has mounted the FUSE file system that is `device`.
[[nodiscard]] bool is_own_mount(dev_t device) noexcept;

}  // namespace forebay::capture
