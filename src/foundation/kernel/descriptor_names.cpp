// Kept apart from the system calls, since it needs the C++ library.
#include "foundation/kernel/descriptor_names.hpp"

#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <climits>
#include <cstddef>
#include <sys/types.h>

namespace forebay::kernel {

std::string name_of_descriptor(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

std::string path_of_descriptor(int fd) {
    std::string path(PATH_MAX, '\0');
    const ssize_t bytes = readlink(name_of_descriptor(fd).c_str(), path.data(), path.size());
    if (bytes == PATH_MAX) {
        errno = ENAMETOOLONG;
    }
    path.resize(bytes > 0 && bytes < PATH_MAX ? static_cast<std::size_t>(bytes) : 0);
    return path;
}

}  // namespace forebay::kernel
