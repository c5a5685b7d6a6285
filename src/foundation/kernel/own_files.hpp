// Files that are opened by name, where others of the machine may have put something under that name
// before (docs/internals/files.md): what was opened is looked at before it is used.
#pragma once

#include <string>
#include <sys/types.h>

namespace forebay::kernel {

// A file whose name Forebay chooses: a regular file of this user that nobody else may write to,
// not reached by a link in the last part of the name. -1 and errno: ELOOP where it is a link,
// EPERM where it is somebody else's, others may write to it, or it is no regular file.
int open_own(const char* path, int flags, mode_t mode = 0) noexcept;

// The folder itself, not a link to it, with the same errors. It is this user's, and nobody else may
// write to it.
int open_own_folder(const char* path) noexcept;

// A file that the user names, to be written. In a folder where others may put files it has to be
// this user's, and so has a link that leads to it; elsewhere it is what it is. -1 and errno: EPERM
// where it is not so.
int open_named(const std::string& path, int flags, mode_t mode);

// A file that the user names, and what it says is done: -1 and EPERM where everybody may write to
// it, or where it is another user's and lies in a folder where everybody may put files.
int open_to_apply(const std::string& path);

// Whether only this user and root can put something into the folder that the name is in.
[[nodiscard]] bool is_in_a_trusted_folder(const std::string& path);

}  // namespace forebay::kernel
