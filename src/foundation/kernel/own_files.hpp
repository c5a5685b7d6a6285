// Opens files by name in directories where other users may have planted something under that name
// (docs/internals/files.md). The open descriptor is checked before it is used, and a file is
// emptied (O_TRUNC) only if the check has accepted it. A file that cannot be checked is refused
// with the errno of the check.
#pragma once

#include <string>
#include <sys/types.h>

namespace forebay::kernel {

// Opens a file whose name Forebay chooses: a regular file of this user, not writable by others,
// whose last path component is not a symbolic link. -1 and errno: ELOOP if it is a link, EPERM if
// it belongs to another user, others may write to it, or it is not a regular file.
int open_own(const char* path, int flags, mode_t mode = 0) noexcept;

// Opens a directory of this user that nobody else may write to, not through a symbolic link; errors
// as of open_own().
int open_own_folder(const char* path) noexcept;

// Opens a file that the user names, for writing. In a directory where others may create files, the
// file must be this user's (or a device), and each symbolic link that leads to it this user's or
// root's; elsewhere every file is accepted. -1 and errno: EPERM if the check fails.
int open_named(const std::string& path, int flags, mode_t mode);

// Opens a file that the user names and whose content is applied (settings). -1 and errno: EPERM if
// everybody may write to it, or if it is in a directory where everybody may create files and
// neither this user nor root owns it (or a symbolic link to it).
int open_to_apply(const std::string& path);

// Whether only this user and root may create files in the directory of `path`.
[[nodiscard]] bool is_in_a_trusted_folder(const std::string& path);

}  // namespace forebay::kernel
