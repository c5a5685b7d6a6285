// Opens directories and files that no other user can have written to. They are checked when they
// are open, so that they cannot be exchanged between check and use.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <string>
#include <sys/stat.h>

namespace forebay::adapters {

// Opens the directory `path` (absolute), and creates it with access for its user only if it is
// missing. It must be the caller's own and not a symbolic link. On the way to it, symbolic links of
// root and of the caller are followed (sites name their disks by them), and no others.
[[nodiscard]] Result<OwnFd> open_own_folder(const std::string& path);

// Why other users may have written to a directory or regular file; empty: they cannot have. Checked
// are its owner, its mode, and whether a file has a second hard link.
[[nodiscard]] std::string why_not_own(const struct stat& found);

// Opens a regular file of the caller in that directory, not a symbolic link. `flags` as for open.
// The error's `system` is EPERM if the file does not qualify.
[[nodiscard]] Result<OwnFd> open_own_file(const OwnFd& folder, const std::string& name, int flags);

}  // namespace forebay::adapters
