// Makes the system calls, and runs the user's commands.
#include "benchmarks/meta/program/calls.hpp"

#include "benchmarks/session/write_all.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

constexpr mode_t everyone = 0644;
constexpr mode_t directory_mode = 0755;

Result<void> done(int code, const char* doing, const std::string& path) {
    if (code == 0) {
        return {};
    }
    const int error = errno;
    return failure(system_error(error, fmt::format("{} {}", doing, path)));
}

// Restores default signal handling for a user's command: the monitor has blocked signals, and
// SIGPIPE is ignored for the janitor's pipe.
class DefaultSignals {
public:
    DefaultSignals() {
        sigset_t none;
        sigset_t pipe;
        sigemptyset(&none);
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &pipe);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~DefaultSignals() { ::posix_spawnattr_destroy(&attributes_); }
    DefaultSignals(const DefaultSignals&) = delete;
    DefaultSignals& operator=(const DefaultSignals&) = delete;
    DefaultSignals(DefaultSignals&&) = delete;
    DefaultSignals& operator=(DefaultSignals&&) = delete;

    [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &attributes_; }

private:
    posix_spawnattr_t attributes_{};
};

}  // namespace

ItemData::ItemData(const meta::MetaCommand& request)
    : stream_({.seed = request.seed, .file = 0, .repetition = 0}),
      buffer_(static_cast<std::size_t>(std::max(request.write_bytes, request.read_bytes))) {}

std::span<std::byte> ItemData::of(std::uint64_t item, std::int64_t bytes) {
    const auto part = std::span(buffer_).first(static_cast<std::size_t>(bytes));
    stream_.set_repetition(item);
    stream_.fill(Offset{0}, part);
    return part;
}

std::optional<measure::DataMismatch> ItemData::check(std::uint64_t item, std::int64_t bytes) {
    stream_.set_repetition(item);
    return stream_.check(Offset{0}, std::span(buffer_).first(static_cast<std::size_t>(bytes)));
}

Result<void> run_command(const std::string& command) {
    std::string shell = "sh";
    std::string flag = "-c";
    std::string text = command;
    const std::array<char*, 4> words{shell.data(), flag.data(), text.data(), nullptr};
    pid_t child = 0;
    const DefaultSignals signals;
    const int spawned =
        ::posix_spawn(&child, "/bin/sh", nullptr, signals.get(), words.data(), environ);
    if (spawned != 0) {
        return failure(system_error(spawned, "run " + command));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return failure(system_error(errno, "wait for " + command));
        }
    }
    if (status == 0) {
        return {};
    }
    return failure(
        {.code = ErrorCode::input_output,
         .message = fmt::format("the command \"{}\" failed (status {}). Correct it, or "
                                "let it end with 0.",
                                command, WIFEXITED(status) ? WEXITSTATUS(status) : status)});
}

int make_with_parents(const std::string& directory) {
    std::error_code error;
    const std::filesystem::path parents = std::filesystem::path(directory).parent_path();
    if (!parents.empty()) {
        std::filesystem::create_directories(parents, error);
    }
    if (error) {
        return error.value();
    }
    return ::mkdir(directory.c_str(), 0755) == 0 ? 0 : errno;
}

Result<void> FileCalls::make_directory(const std::string& path) const {
    return dummy_ ? Result<void>{} : done(::mkdir(path.c_str(), directory_mode), "create", path);
}

Result<void> FileCalls::remove_directory(const std::string& path) const {
    return dummy_ ? Result<void>{} : done(::rmdir(path.c_str()), "remove", path);
}

Result<void> FileCalls::rename(const std::string& from, const std::string& to) const {
    return dummy_ ? Result<void>{} : done(std::rename(from.c_str(), to.c_str()), "rename", from);
}

Result<void> FileCalls::stat(const std::string& path) const {
    struct stat facts{};
    return dummy_ ? Result<void>{} : done(::stat(path.c_str(), &facts), "stat", path);
}

Result<void> FileCalls::unlink(const std::string& path) const {
    return dummy_ ? Result<void>{} : done(::unlink(path.c_str()), "remove", path);
}

Result<void> FileCalls::make_node(const std::string& path) const {
    return dummy_ ? Result<void>{}
                  : done(::mknod(path.c_str(), S_IFREG | everyone, 0), "create", path);
}

Result<OwnFd> FileCalls::open(const std::string& path, int flags) const {
    if (dummy_) {
        return OwnFd();
    }
    OwnFd fd(::open(path.c_str(), flags | O_CLOEXEC, everyone));
    if (!fd.valid()) {
        return failure(system_error(errno, "open " + path));
    }
    return fd;
}

Result<void> FileCalls::close(OwnFd fd, const std::string& path) const {
    return dummy_ ? Result<void>{} : fd.close(path);
}

Result<void> FileCalls::write(const OwnFd& fd, std::span<const std::byte> bytes,
                              const std::string& path) const {
    if (dummy_) {
        return {};
    }
    return write_all({bytes}, path, [&fd](const PlacedBytes& left) {
        return ::write(fd.get(), left.bytes.data(), left.bytes.size());
    });
}

Result<void> FileCalls::read(const OwnFd& fd, std::span<std::byte> bytes,
                             const std::string& path) const {
    while (!dummy_ && !bytes.empty()) {
        const ssize_t moved = ::read(fd.get(), bytes.data(), bytes.size());
        if (moved < 0 && errno != EINTR) {
            return failure(system_error(errno, "read " + path));
        }
        if (moved == 0) {
            return failure({.code = ErrorCode::input_output,
                            .message = fmt::format("{} ends {} B too early (-e asks for more than "
                                                   "is there). Write more by -w, or read less.",
                                                   path, bytes.size())});
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(moved, 0)));
    }
    return {};
}

Result<void> FileCalls::sync(const OwnFd& fd, const std::string& path) const {
    return dummy_ ? Result<void>{} : done(::fsync(fd.get()), "sync", path);
}

}  // namespace forebay::bench
