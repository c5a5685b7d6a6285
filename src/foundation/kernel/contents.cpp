// Reads a small file whole. Kept apart from the system calls, since it needs the C++ library.
#include "foundation/kernel/calls.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>

namespace forebay::kernel {

std::optional<std::string> contents(const std::string& path, std::size_t bytes_max) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return std::nullopt;
    }
    struct Closing {
        int fd;
        ~Closing() { close(fd); }
    };
    std::string text;
    std::array<char, 4096> part;
    ssize_t got = 0;
    int why = 0;
    {
        const Closing closing{fd};
        do {
            got = read(fd, part.data(), part.size());
            text.append(part.data(), static_cast<std::size_t>(got > 0 ? got : 0));
        } while (text.size() <= bytes_max && (got > 0 || (got < 0 && errno == EINTR)));
        why = got < 0 ? errno : EFBIG;
    }
    if (got < 0 || text.size() > bytes_max) {
        errno = why;
        return std::nullopt;
    }
    return text;
}

}  // namespace forebay::kernel
