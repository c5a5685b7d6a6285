// Who has mounted a FUSE file system, by /proc/self/mountinfo: a mount of somebody else may say
// anything about its files, also that they are other files of the daemon.
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
