// Each function opens first and checks the open descriptor with fstat, so that the file cannot be
// exchanged between check and use. O_TRUNC is withheld from open(), because it would empty the file
// before the check.
#include "foundation/kernel/own_files.hpp"

#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::kernel {

namespace {

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;
// Flags that do not block on a FIFO without a peer and do not acquire a controlling terminal.
constexpr int carefully = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

bool is_ours(const struct stat& found) noexcept { return found.st_uid == ::geteuid(); }

bool is_trusted(const struct stat& found) noexcept { return is_ours(found) || found.st_uid == 0; }

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

int refuse(int fd, int error = EPERM) noexcept {
    close(fd);
    errno = error;
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
    const int without = (flags & ~O_TRUNC) | O_CLOEXEC | O_NOCTTY;
    int fd = open(path.c_str(), without | O_NOFOLLOW, mode);
    struct stat found{};
    if (fd < 0 && errno == ELOOP) {
        if (kernel::fstatat(AT_FDCWD, path.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
            return -1;
        }
        if (!is_trusted(found)) {
            errno = EPERM;
            return -1;
        }
        fd = open(path.c_str(), without, mode);
    }
    if (fd < 0) {
        return -1;
    }
    if (kernel::fstat(fd, &found) != 0) {
        return refuse(fd, errno);
    }
    // A character device such as /dev/null is accepted whoever owns it.
    const bool fine = is_ours(found) || S_ISCHR(found.st_mode);
    return fine ? truncated_if_asked(fd, flags) : refuse(fd);
}

}  // namespace forebay::kernel
