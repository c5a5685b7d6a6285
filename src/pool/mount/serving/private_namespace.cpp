// As unshare(1) does with -Um --map-current-user, and nsenter(1) with -U -m --preserve-credentials.
#include "pool/mount/serving/private_namespace.hpp"

#include "foundation/base/own_fd.hpp"
#include "foundation/base/printable.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace forebay::mount {

namespace {

constexpr int not_executable = 126;
constexpr int not_found = 127;

Error no_namespace(int error) {
    std::string_view why = "this machine lets users make none";
    if (error == ENOSPC || error == EUSERS) {
        why = "this machine allows no more of them";
    }
    return {ErrorCode::access, error,
            fmt::format("cannot make a private namespace ({}: {}). Have root allow user namespaces "
                        "(sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
                        "kernel.apparmor_restrict_unprivileged_userns), or install fuse3.",
                        why, std::strerror(error))};
}

bool write_once(const char* path, std::string_view text) noexcept {
    const OwnFd file{::open(path, O_WRONLY | O_CLOEXEC)};
    return file.valid() &&
           ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Gives this process its user and group in the new namespace. A user may map the group only if
// setgroups() is denied.
bool keep_user(uid_t user, gid_t group) {
    return write_once("/proc/self/setgroups", "deny") &&
           write_once("/proc/self/uid_map", fmt::format("{0} {0} 1", user)) &&
           write_once("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

bool is_in_user_namespace(int other) noexcept {
    struct stat theirs{};
    struct stat ours{};
    return ::fstat(other, &theirs) == 0 && ::stat("/proc/self/ns/user", &ours) == 0 &&
           theirs.st_ino == ours.st_ino;
}

int status_of(int error) noexcept { return error == ENOENT ? not_found : not_executable; }

}  // namespace

Result<void> enter_new_namespace() {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    const bool is_root = user == 0;
    if (::unshare(is_root ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
        (!is_root && !keep_user(user, group))) {
        return failure(no_namespace(errno));
    }
    // Mounts outside, such as an automounter's, are still seen here, and those of here not outside.
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
        return failure(no_namespace(errno));
    }
    return {};
}

Result<void> enter_namespace_of(pid_t process) {
    const OwnFd user{
        ::open(fmt::format("/proc/{}/ns/user", process).c_str(), O_RDONLY | O_CLOEXEC)};
    const OwnFd mounts{
        ::open(fmt::format("/proc/{}/ns/mnt", process).c_str(), O_RDONLY | O_CLOEXEC)};
    if (!user.valid() || !mounts.valid() ||
        (!is_in_user_namespace(user.get()) && ::setns(user.get(), CLONE_NEWUSER) != 0) ||
        ::setns(mounts.get(), CLONE_NEWNS) != 0) {
        return failure(system_error(errno, fmt::format("enter the mounts of process {}", process)));
    }
    return {};
}

int become_program_within(pid_t process, const std::string& folder, std::span<char* const> words) {
    const auto told = [](const std::string& message) {
        std::fprintf(stderr, "forebay: %s\n", printable(message).c_str());
        return not_executable;
    };
    if (const auto entered = enter_namespace_of(process); !entered) {
        return told(entered.error().message);
    }
    if (::chdir(folder.c_str()) != 0) {
        return told(system_error(errno, "enter " + folder).message);
    }
    std::vector<char*> all{words.begin(), words.end()};
    all.push_back(nullptr);
    ::execvp(all[0], all.data());
    const int error = errno;
    told(
        fmt::format("cannot run {} ({}). Check the name, and PATH.", all[0], std::strerror(error)));
    return status_of(error);
}

}  // namespace forebay::mount
