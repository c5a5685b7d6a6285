// Checks of the socket's directory and of the peer's credentials.
#include "pool/client/trust.hpp"

#include "foundation/kernel/calls.hpp"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace forebay::pool {

namespace {

constexpr mode_t others = 0077;

}  // namespace

const char* folder_problem(const char* socket) noexcept {
    std::array<char, sizeof(sockaddr_un::sun_path)> folder{'.', '\0'};
    const char* const slash = std::strrchr(socket, '/');
    const bool in_root = slash == socket;
    const auto bytes = in_root            ? 1
                       : slash == nullptr ? 0
                                          : static_cast<std::size_t>(slash - socket);
    if (bytes >= folder.size()) {
        return "its name is too long";
    }
    if (bytes > 0) {
        std::memcpy(folder.data(), socket, bytes);
        folder[bytes] = '\0';
    }
    struct stat found{};
    if (kernel::fstatat(AT_FDCWD, folder.data(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
        return nullptr;
    }
    if (!S_ISDIR(found.st_mode)) {
        return "its folder is none, or a link to one";
    }
    if (found.st_uid != ::geteuid()) {
        return "its folder is another user's";
    }
    return (found.st_mode & others) != 0 ? "its folder is open to other users" : nullptr;
}

const char* listener_problem(int socket, pid_t daemon) noexcept {
    ucred who{};
    socklen_t bytes = sizeof who;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0) {
        return "the kernel does not say who listens there";
    }
    if (who.uid != ::geteuid()) {
        return "another user listens there";
    }
    const bool is_another = daemon != 0 && who.pid != 0 && who.pid != daemon;
    return is_another ? "another process listens there than the daemon of this run" : nullptr;
}

pid_t daemon_of(const char* told, const char* socket) noexcept {
    constexpr pid_t most = 1 << 22;  // PID_MAX_LIMIT of the kernel
    pid_t process = 0;
    while (told != nullptr && *told >= '0' && *told <= '9' && process <= most) {
        process = process * 10 + (*told++ - '0');
    }
    const bool is_of_it = told != nullptr && *told == ':' && std::strcmp(told + 1, socket) == 0;
    return is_of_it && process <= most ? process : 0;
}

}  // namespace forebay::pool
