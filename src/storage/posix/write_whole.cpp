// A loop of pwrite(2).
#include "storage/posix/write_whole.hpp"

#include "foundation/kernel/calls.hpp"

#include <cerrno>

namespace forebay::adapters {

int write_whole(int fd, std::span<const std::byte> bytes, std::int64_t at) {
    while (!bytes.empty()) {
        const ssize_t got = kernel::pwrite(fd, bytes.data(), bytes.size(), at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? errno : EIO;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(got));
        at += got;
    }
    return 0;
}

}  // namespace forebay::adapters
