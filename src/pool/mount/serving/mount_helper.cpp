// The helper runs as a child process, whose standard error is read for what it refuses.
#include "pool/mount/serving/mount_helper.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace forebay::mount {

namespace {

constexpr std::string_view program = "fusermount3";
constexpr std::string_view socket_variable = "_FUSE_COMMFD=";
constexpr std::size_t said_max = 4096;

// A refusal of fusermount3, by a part of its message, and what users are told.
struct KnownRefusal {
    std::string_view part;
    std::string_view why;
    std::string_view next;
};
constexpr std::array<KnownRefusal, 9> refusals{{
    {"user has no write access", "users mount only over directories in which they may write",
     "Name a directory of your own"},
    {"not owned by user",
     "others may write there, too (it has the sticky bit), and it is not yours",
     "Name a directory of your own in it"},
    {"mounting over filesystem type", "fusermount3 has no such file system on its list",
     "Say `forebay run --private`, or ask for a newer fuse3"},
    {"user_allow_other", "/etc/fuse.conf lets no user give access to others",
     "Leave out --allow-other, or have root write user_allow_other there"},
    {"fuse device not found", "there is no /dev/fuse",
     "Have root load the module fuse, or give the device to this container"},
    {"failed to open /dev/fuse", "you may not open /dev/fuse",
     "Have root give it the mode 0666, which it has on most machines"},
    {"too many FUSE filesystems", "/etc/fuse.conf allows no more FUSE mounts",
     "Unmount others, or have root raise mount_max there"},
    {"failed to access mountpoint", "it cannot be reached", "Check its name and its mount"},
    {"mount failed: Operation not permitted", "fusermount3 has no privileges here",
     "Have root give it the set-uid bit, or say `forebay run --private`"},
}};

// The command line, and the variables of this process's environment, without what is preloaded.
class HelperWords {
public:
    HelperWords(std::vector<std::string> words, int socket) : words_{std::move(words)} {
        for (char** one = environ; *one != nullptr; ++one) {
            const std::string_view text{*one};
            if (!text.starts_with("LD_PRELOAD=") && !text.starts_with(socket_variable)) {
                variables_.emplace_back(text);
            }
        }
        if (socket >= 0) {
            variables_.push_back(fmt::format("{}{}", socket_variable, socket));
        }
    }
    [[nodiscard]] std::vector<char*> words() { return pointers(words_); }
    [[nodiscard]] std::vector<char*> variables() { return pointers(variables_); }

private:
    static std::vector<char*> pointers(std::vector<std::string>& texts) {
        std::vector<char*> all;
        for (std::string& text : texts) {
            all.push_back(text.data());
        }
        all.push_back(nullptr);
        return all;
    }
    std::vector<std::string> words_;
    std::vector<std::string> variables_;
};

// Starts the helper. It inherits `socket` (-1: none), and its standard error is `errors`.
std::optional<pid_t> start(std::vector<std::string> words, int socket, int errors) {
    HelperWords told{std::move(words), socket};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    if (socket >= 0) {
        ::posix_spawn_file_actions_adddup2(&actions, socket, socket);  // clears FD_CLOEXEC
    }
    pid_t child = 0;
    const std::string name{program};
    const int error = ::posix_spawnp(&child, name.c_str(), &actions, nullptr, told.words().data(),
                                     told.variables().data());
    ::posix_spawn_file_actions_destroy(&actions);
    errno = error;
    return error == 0 ? std::optional{child} : std::nullopt;
}

bool ended_well(pid_t child) noexcept {
    int status = 1;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

std::string all_of(int pipe) {
    std::string text(said_max, '\0');
    std::size_t length = 0;
    for (ssize_t got = 1; got > 0 && length < text.size();) {
        got = ::read(pipe, text.data() + length, text.size() - length);
        length += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    text.resize(length);
    return text;
}

OwnFd receive_descriptor(int socket) {
    char byte = 0;
    iovec piece{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = 0;
    do {
        got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
        return OwnFd{};
    }
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return OwnFd{fd};
}

Error not_started(const std::string& directory, int error) {
    if (error == ENOENT) {
        return {ErrorCode::access, error,
                fmt::format("cannot mount over {} (there is no {}, and only root mounts without "
                            "it). Install the package fuse3, or say `forebay run --private`.",
                            directory, program)};
    }
    return system_error(error, fmt::format("start {} to mount over {}", program, directory));
}

}  // namespace

Error helper_error(const std::string& directory, std::string_view said) {
    for (const KnownRefusal& one : refusals) {
        if (said.find(one.part) != std::string_view::npos) {
            return {ErrorCode::access, EPERM,
                    fmt::format("cannot mount over {} ({}). {}.", directory, one.why, one.next)};
        }
    }
    std::string_view line = said.substr(0, said.find('\n'));
    const std::string name = fmt::format("{}: ", program);
    line.remove_prefix(line.starts_with(name) ? name.size() : 0);
    return {ErrorCode::access, EPERM,
            fmt::format("cannot mount over {} ({} says: {}). See `forebay doctor`.", directory,
                        program, line.empty() ? "nothing" : line)};
}

Result<OwnFd> mount_by_helper(const std::string& directory, const std::string& options) {
    std::array<int, 2> sockets{};
    std::array<int, 2> pipe{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
        return failure(system_error(errno, "mount over " + directory));
    }
    const OwnFd ours{sockets[0]};
    OwnFd theirs{sockets[1]};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        return failure(system_error(errno, "mount over " + directory));
    }
    const OwnFd said{pipe[0]};
    OwnFd says{pipe[1]};
    const auto child =
        start({std::string{program}, "-o", options, "--", directory}, theirs.get(), says.get());
    if (!child) {
        return failure(not_started(directory, errno));
    }
    theirs = OwnFd{};
    says = OwnFd{};
    OwnFd device = receive_descriptor(ours.get());
    const std::string text = all_of(said.get());
    if (!ended_well(*child) || !device.valid()) {
        return failure(helper_error(directory, text));
    }
    return device;
}

bool unmount_by_helper(const std::string& directory) {
    const OwnFd nowhere{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
    const auto child =
        start({std::string{program}, "-u", "-z", "--", directory}, -1, nowhere.get());
    return child && ended_well(*child);
}

}  // namespace forebay::mount
