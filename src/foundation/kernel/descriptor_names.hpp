// Names of open files. The kernel gives a file's path as it is now, also after a rename.
#pragma once

#include <string>

namespace forebay::kernel {

// "/proc/self/fd/N": a name of the file for calls that need one.
[[nodiscard]] std::string name_of_descriptor(int fd);

// The path of an open file, with all symbolic links resolved. Empty, and errno, where the kernel
// gives none; ENAMETOOLONG if it has PATH_MAX bytes or more: what was read may be truncated.
[[nodiscard]] std::string path_of_descriptor(int fd);

}  // namespace forebay::kernel
