// Walks the path component by component, if openat2 is missing or the path has symbolic links.
#include "storage/posix/own_folder.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/folder_calls.hpp"
#include "foundation/kernel/newer_linux.hpp"

#include <array>
#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace forebay::adapters {

namespace {

constexpr mode_t user_enters = 0700;
constexpr mode_t user_only = 0600;
constexpr int as_a_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int links_max = 40;  // maximum number of links in a path, as in the kernel

tl::unexpected<Error> refuse_folder(const std::string& path, std::string_view why) {
    return failure(
        {ErrorCode::access, EPERM,
         fmt::format("cannot use {} ({}). Name a folder of your own that only you can write to.",
                     path, why)});
}

std::deque<std::string> names_of(std::string_view path) {
    std::deque<std::string> names;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string_view name = path.substr(0, slash);
        if (!name.empty() && name != ".") {
            names.emplace_back(name);
        }
        path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    }
    return names;
}

class FolderWalk {
public:
    explicit FolderWalk(std::string path)
        : path_{std::move(path)},
          left_{names_of(path_)},
          at_{kernel::open("/", O_PATH | O_CLOEXEC)} {}

    // Walks to the directory that contains the last component.
    Result<OwnFd> go() {
        while (!left_.empty()) {
            const std::string name = std::move(left_.front());
            left_.pop_front();
            OwnFd next{kernel::openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
            struct stat found{};
            if (!next.valid() || kernel::fstat(next.get(), &found) != 0) {
                return failure(system_error(errno, "open " + path_));
            }
            if (!S_ISLNK(found.st_mode)) {
                at_ = std::move(next);
            } else if (auto followed = follow(next, found); !followed) {
                return failure(std::move(followed.error()));
            }
        }
        return std::move(at_);
    }

private:
    Result<void> follow(const OwnFd& link, const struct stat& found) {
        if (found.st_uid != 0 && found.st_uid != ::geteuid()) {
            return refuse_folder(path_, "there is a link of another user on the way to it");
        }
        std::array<char, 4096> target{};
        const ssize_t got = kernel::readlinkat(link.get(), "", target.data(), target.size());
        if (got <= 0 || static_cast<std::size_t>(got) >= target.size() || ++links_ > links_max) {
            return failure(system_error(got < 0 ? errno : ELOOP, "open " + path_));
        }
        const std::string_view to{target.data(), static_cast<std::size_t>(got)};
        const std::deque<std::string> names = names_of(to);
        left_.insert(left_.begin(), names.begin(), names.end());
        if (to.front() == '/') {
            at_ = OwnFd{kernel::open("/", O_PATH | O_CLOEXEC)};
        }
        return {};
    }

    std::string path_;
    std::deque<std::string> left_;
    OwnFd at_;
    int links_ = 0;
};

Result<OwnFd> open_parent(const std::string& path) {
    OwnFd fd{kernel::openat2(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC,
                             kernel::resolve_no_symlinks)};
    return fd.valid() ? Result<OwnFd>{std::move(fd)} : FolderWalk{path}.go();
}

}  // namespace

std::string why_not_own(const struct stat& found) {
    if (found.st_uid != ::geteuid()) {
        return fmt::format("it belongs to user {}, not to user {}", found.st_uid, ::geteuid());
    }
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fmt::format(
            "others may write to it: its mode is {:o}; `chmod go-w` helps if it is "
            "yours",
            found.st_mode & 07777U);
    }
    if (!S_ISDIR(found.st_mode) && !S_ISREG(found.st_mode)) {
        return "it is neither a folder nor a plain file";
    }
    return S_ISREG(found.st_mode) && found.st_nlink > 1 ? "it has another name elsewhere" : "";
}

Result<OwnFd> open_own_folder(const std::string& path) {
    const std::size_t end = path.find_last_not_of('/');
    const std::size_t slash = end == std::string::npos ? end : path.rfind('/', end);
    if (slash == std::string::npos) {
        return refuse_folder(path, "it is no folder that can be made");
    }
    const std::string name = path.substr(slash + 1, end - slash);
    const auto parent = open_parent(path.substr(0, slash + 1));
    if (!parent) {
        return failure(parent.error());
    }
    if (kernel::mkdirat(parent->get(), name.c_str(), user_enters) != 0 && errno != EEXIST) {
        return failure(system_error(errno, "make the folder " + path));
    }
    OwnFd folder{kernel::openat(parent->get(), name.c_str(), as_a_folder)};
    struct stat found{};
    if (!folder.valid()) {
        const bool is_link =
            (errno == ELOOP || errno == ENOTDIR) &&
            kernel::fstatat(parent->get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(found.st_mode);
        return is_link ? refuse_folder(path, "it is a link")
                       : failure(system_error(errno, "open the folder " + path));
    }
    if (kernel::fstat(folder.get(), &found) != 0) {
        return failure(system_error(errno, "look at the folder " + path));
    }
    const std::string why = why_not_own(found);
    return why.empty() ? Result<OwnFd>{std::move(folder)} : refuse_folder(path, why);
}

Result<OwnFd> open_own_file(const OwnFd& folder, const std::string& name, int flags) {
    OwnFd file{
        kernel::openat(folder.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, user_only)};
    if (!file.valid()) {
        return errno == ELOOP ? refuse_folder(name, "it is a link")
                              : failure(system_error(errno, "open " + name));
    }
    struct stat found{};
    if (kernel::fstat(file.get(), &found) != 0) {
        return failure(system_error(errno, "look at " + name));
    }
    const std::string why = why_not_own(found);
    return why.empty() ? Result<OwnFd>{std::move(file)} : refuse_folder(name, why);
}

}  // namespace forebay::adapters
