// Maps the daemon's file of known inodes, beside its socket, read-only.
#include "pool/capture/files/other_names.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>

namespace forebay::capture {

void OtherNames::map(const char* socket) noexcept {
    const int before = errno;
    std::array<char, sizeof(sockaddr_un)> path{};
    const std::size_t bytes = std::strlen(socket);
    const std::size_t suffix = std::strlen(pool::KnownInodes::suffix) + 1;
    if (bytes + suffix > path.size()) {
        return;
    }
    std::memcpy(path.data(), socket, bytes);
    std::memcpy(path.data() + bytes, pool::KnownInodes::suffix, suffix);
    // The file is a symbolic link into /proc, which may lead anywhere in another PID namespace: so
    // its type, length and format are checked.
    struct stat found{};
    const int fd = kernel::open(path.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && kernel::fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
        found.st_size == off_t{sizeof(pool::KnownInodes)}) {
        void* const at =
            kernel::mmap(nullptr, sizeof(pool::KnownInodes), PROT_READ, MAP_SHARED, fd, 0);
        const auto* const inodes = static_cast<const pool::KnownInodes*>(at);
        if (at != MAP_FAILED && inodes->format.load(relaxed) == pool::format) {
            inodes_ = inodes;
        } else if (at != MAP_FAILED) {
            kernel::munmap(at, sizeof(pool::KnownInodes));
        }
    }
    if (fd >= 0) {
        kernel::close(fd);
    }
    errno = before;
}

bool may_be_known(int folder, const char* path, const struct stat& found) noexcept {
    return connection.reached() || state.other_names.may_have(found.st_dev, found.st_ino) ||
           may_be_pooled(folder, path, found.st_dev);
}

bool is_known_by_inode(const struct stat& found) noexcept {
    if (!S_ISREG(found.st_mode) || !state.other_names.may_have(found.st_dev, found.st_ino)) {
        return false;
    }
    // A dead daemon knows which files lack deposits (lost_files.hpp).
    return in_one_process([&]() noexcept {
        return connection.reach() ? connection.life() != DaemonConnection::Life::ended &&
                                        known(found.st_dev, found.st_ino).has_value()
                                  : connection.is_unmapped();
    });
}

}  // namespace forebay::capture
