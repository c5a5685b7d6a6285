// The watcher waits in poll() for the end of a pipe (the serving process) or of a pidfd (the
// daemon).
#include "pool/mount/serving/mount_watcher.hpp"

#include "foundation/kernel/newer_calls.hpp"
#include "pool/mount/serving/mounted_path.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

namespace {

// The watcher's process. It keeps only the pipe, the pidfd and standard error open.
[[noreturn]] void watch(const std::string& path, const std::string& name, int line, int daemon) {
    // Otherwise the connection to the daemon, and its memory, would be kept alive by this process.
    const auto [first, last] = std::minmax(line, daemon);
    unsigned from = STDERR_FILENO + 1;
    for (const int kept : {first, last}) {
        if (kept >= 0 && static_cast<unsigned>(kept) > from) {
            kernel::close_range(from, static_cast<unsigned>(kept) - 1);
        }
        from = kept >= 0 ? static_cast<unsigned>(kept) + 1 : from;
    }
    kernel::close_range(from, ~0U);
    ::prctl(PR_SET_NAME, "forebay-watch", 0, 0, 0);
    ::setsid();
    static_cast<void>(::chdir("/") == 0);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        ::signal(signal, SIG_IGN);
    }
    std::array<pollfd, 2> all{pollfd{.fd = line, .events = POLLIN, .revents = 0},
                              pollfd{.fd = daemon, .events = POLLIN, .revents = 0}};
    while (::poll(all.data(), all.size(), -1) < 0 && errno == EINTR) {
    }
    // Only if our mount is still there: it may have been unmounted, and another one mounted.
    if (name_over(path) == name) {
        unmount_lazily(path);
    }
    ::_exit(0);
}

}  // namespace

Result<MountWatcher> MountWatcher::beside(const std::string& path, pid_t daemon) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return failure(system_error(errno, "watch the mount"));
    }
    OwnFd watched{ends[0]};
    OwnFd kept{ends[1]};
    const OwnFd dies{daemon == 0 ? -1 : kernel::pidfd_open(daemon)};
    const std::string name = mount_name(::getpid());
    const pid_t child = ::fork();
    if (child < 0) {
        return failure(system_error(errno, "watch the mount"));
    }
    if (child == 0) {
        kept = OwnFd{};
        for (const int other : {STDIN_FILENO, STDOUT_FILENO}) {
            ::close(other);
        }
        watch(path, name, watched.get(), dies.get());
    }
    return MountWatcher{std::move(kept)};
}

void MountWatcher::unmount() { line_ = OwnFd{}; }

}  // namespace forebay::mount
