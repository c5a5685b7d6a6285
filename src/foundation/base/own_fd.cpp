// OwnFd::close() returns a Result because some file systems report lost writes only there.
#include "foundation/base/own_fd.hpp"

#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <unistd.h>

namespace forebay {

OwnFd& OwnFd::operator=(OwnFd&& other) noexcept {
    if (this != &other) {
        if (valid()) {
            kernel::close(fd_);
        }
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

OwnFd::~OwnFd() {
    if (valid()) {
        kernel::close(fd_);
    }
}

Result<void> OwnFd::close(const std::string& path) {
    if (!valid()) {
        return {};
    }
    const int status = kernel::close(std::exchange(fd_, -1));
    if (status != 0 && errno != EINTR) {
        return failure(system_error(errno, "close " + path));
    }
    return {};
}

}  // namespace forebay
