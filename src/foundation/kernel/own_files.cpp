// Each function opens first and checks the open descriptor with fstat, so that the file cannot be
// exchanged between check and use. O_TRUNC is withheld from open(), because it would empty the file
// before the check.
#include "foundation/kernel/own_files.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/folder_calls.hpp"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace forebay::kernel {

namespace {

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;
// Flags that do not block on a FIFO without a peer and do not acquire a controlling terminal.
constexpr int carefully = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

bool is_ours(const struct stat& found) noexcept { return found.st_uid == ::geteuid(); }

bool is_trusted(const struct stat& found) noexcept { return is_ours(found) || found.st_uid == 0; }

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

int refuse(int fd, int error = EPERM) noexcept {
    close(fd);
    errno = error;
    return -1;
}

// A character device such as /dev/null is accepted whoever owns it.
bool may_be_written(const struct stat& found) noexcept {
    return is_ours(found) || S_ISCHR(found.st_mode);
}

// The path that the link `path` leads to. The link is held open while its owner is checked and it
// is read, because another user may put another one in its place at any time. nullopt and errno:
// EPERM if it is neither this user's nor root's.
std::optional<std::string> target_of_trusted_link(const std::string& path) {
    const int link = open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (link < 0) {
        return std::nullopt;
    }
    struct stat found{};
    std::string target(PATH_MAX, '\0');
    int error = kernel::fstat(link, &found) != 0 ? errno : is_trusted(found) ? 0 : EPERM;
    const ssize_t bytes =
        error == 0 ? kernel::readlinkat(link, "", target.data(), target.size()) : 0;
    error = bytes < 0 ? errno : error;
    close(link);
    if (error != 0) {
        errno = error;
        return std::nullopt;
    }
    target.resize(static_cast<std::size_t>(bytes));
    return target.starts_with('/') ? target : folder_of(path) + target;
}

// Opens the file that a path leads to, where other users may put links.
int open_through_trusted_links(std::string path, int flags, mode_t mode) {
    constexpr int links_max = 40;  // as in the kernel
    for (int links = 0; links < links_max; ++links) {
        const int fd = open(path.c_str(), flags | O_NOFOLLOW, mode);
        if (fd >= 0 || errno != ELOOP) {
            return fd;
        }
        std::optional<std::string> target = target_of_trusted_link(path);
        if (!target) {
            return -1;
        }
        path = std::move(*target);
    }
    errno = ELOOP;
    return -1;
}

int if_own(int fd, mode_t kind) noexcept {
    struct stat found{};
    if (fd < 0) {
        return -1;
    }
    if (kernel::fstat(fd, &found) != 0) {
        return refuse(fd, errno);
    }
    const bool fine = (found.st_mode & S_IFMT) == kind && is_ours(found) &&
                      (found.st_mode & writable_by_others) == 0;
    return fine ? fd : refuse(fd);
}

// Does the part of O_TRUNC that was withheld from open(), for a file that has been checked.
int truncated_if_asked(int fd, int flags) noexcept {
    struct stat found{};
    if (fd < 0 || (flags & O_TRUNC) == 0) {
        return fd;
    }
    const bool fine = kernel::fstat(fd, &found) == 0 &&
                      (!S_ISREG(found.st_mode) || kernel::ftruncate(fd, 0) == 0);
    return fine ? fd : refuse(fd, errno);
}

}  // namespace

int open_own(const char* path, int flags, mode_t mode) noexcept {
    const int fd = open(path, (flags & ~O_TRUNC) | O_NOFOLLOW | carefully, mode);
    return truncated_if_asked(if_own(fd, S_IFREG), flags);
}

int open_own_folder(const char* path) noexcept {
    return if_own(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), S_IFDIR);
}

bool is_in_a_trusted_folder(const std::string& path) {
    struct stat found{};
    return kernel::stat(folder_of(path).c_str(), &found) == 0 && is_trusted(found) &&
           (found.st_mode & writable_by_others) == 0;
}

int open_to_apply(const std::string& path) {
    struct stat found{};
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return -1;
    }
    if (kernel::fstat(fd, &found) != 0) {
        return refuse(fd, errno);
    }
    if (S_ISREG(found.st_mode) && (found.st_mode & S_IWOTH) != 0) {
        return refuse(fd);
    }
    struct stat folder{};
    const bool anybody_puts =
        kernel::stat(folder_of(path).c_str(), &folder) != 0 || (folder.st_mode & S_IWOTH) != 0;
    if (!anybody_puts) {
        return fd;
    }
    struct stat link{};
    const bool leads_there =
        kernel::fstatat(AT_FDCWD, path.c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_trusted(link);
    return leads_there && (is_trusted(found) || S_ISCHR(found.st_mode)) ? fd : refuse(fd);
}

int open_named(const std::string& path, int flags, mode_t mode) {
    if (is_in_a_trusted_folder(path)) {
        return open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode);
    }
    struct stat found{};
    // The owner is checked before opening, too: to open another user's pipe would wait until
    // somebody reads from it.
    if (kernel::stat(path.c_str(), &found) == 0 && !may_be_written(found)) {
        errno = EPERM;
        return -1;
    }
    const int fd =
        open_through_trusted_links(path, (flags & ~O_TRUNC) | O_CLOEXEC | O_NOCTTY, mode);
    if (fd < 0) {
        return -1;
    }
    if (kernel::fstat(fd, &found) != 0) {
        return refuse(fd, errno);
    }
    return may_be_written(found) ? truncated_if_asked(fd, flags) : refuse(fd);
}

}  // namespace forebay::kernel
