// The watcher waits in poll() for the end of a pipe (the server asks it to unmount), and for those
// of the server and the daemon (pidfds). It counts its own seconds without a sign of the server, so
// that a node or a job that was suspended as a whole does not count as a server that was stopped.
#include "pool/mount/serving/mount_watcher.hpp"

#include "foundation/base/report.hpp"
#include "foundation/kernel/newer_calls.hpp"
#include "pool/mount/serving/mounted_path.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

namespace {

constexpr int tick_ms = 1000;
// The path is to be back within a second of the server's death; until then the daemon may drain
// what the server has left in its log, and the files that leave for programs that are not captured,
// so that these find no old bytes in the files below.
constexpr int drain_ms = 900;
constexpr int drain_step_ms = 2;
constexpr int death_ms = 1000;

OwnFd process_fd(pid_t process) { return OwnFd{process == 0 ? -1 : kernel::pidfd_open(process)}; }

bool is_readable(int fd, int milliseconds) noexcept {
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, milliseconds) > 0;
}

// The watcher's process.
class WatchProcess {
public:
    WatchProcess(const WatchOrder& order, pid_t server, WatchedState& state)
        : order_{order},
          state_{state},
          process_{server},
          name_{mount_name(server)},
          server_{process_fd(server)},
          daemon_{process_fd(order.daemon)} {}

    [[nodiscard]] bool valid() const noexcept { return server_.valid(); }
    [[noreturn]] void run(OwnFd line);

private:
    // Otherwise the connection to the daemon would be kept alive by this process.
    void close_all_but(int line) const;
    // Returns when the server has died, or was ended since it does not run.
    void wait_for_the_end(OwnFd line);
    void unmount_ours(bool by_force = false) const;
    [[nodiscard]] bool has_only_stuck_threads() const;
    void end_server() const;
    void wait_until_drained() const;
    [[nodiscard]] bool has_deposits() const noexcept;
    [[nodiscard]] bool has_files_that_leave() const noexcept;

    const WatchOrder& order_;
    WatchedState& state_;
    pid_t process_;
    std::string name_;
    OwnFd server_;
    OwnFd daemon_;
};

void WatchProcess::close_all_but(int line) const {
    std::array<int, 5> kept{STDERR_FILENO, line, server_.get(), daemon_.get(),
                            order_.lock->descriptor()};
    std::ranges::sort(kept);
    unsigned from = 0;
    for (const int one : kept) {
        if (one >= 0) {
            if (static_cast<unsigned>(one) > from) {
                kernel::close_range(from, static_cast<unsigned>(one) - 1);
            }
            from = static_cast<unsigned>(one) + 1;
        }
    }
    kernel::close_range(from, ~0U);
}

// Only if our mount is still there: it may have been unmounted, and another one mounted.
void WatchProcess::unmount_ours(bool by_force) const {
    if (name_over(order_.path) == name_) {
        static_cast<void>(by_force ? unmount_by_force(order_.path) : unmount_lazily(order_.path));
    }
}

// A thread that has the kernel forget a name waits there for whoever uses the name's directory, and
// cannot be killed meanwhile. It keeps /dev/fuse open, so that nobody is told that the server is
// dead.
bool WatchProcess::has_only_stuck_threads() const {
    std::ifstream file{fmt::format("/proc/{}/stat", process_)};
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");
    return name_end != std::string::npos && text.compare(name_end + 2, 1, "Z") == 0;
}

void WatchProcess::end_server() const {
    const std::uint32_t connection = state_.connection.load();
    const bool aborted = end_connection(connection);
    // A server that went on later could write what its programs have been told has failed.
    if (::getppid() == process_) {  // it has not died
        ::kill(process_, SIGKILL);
    }
    const bool ended = is_readable(server_.get(), death_ms);
    report("forebay-mount",
           fmt::format("ended the mount over {} (its server did not run for {} s). {}", order_.path,
                       order_.stopped_max.count(),
                       aborted || ended
                           ? "The directory below is back; pool_mount_timeout allows more."
                           : fmt::format("Have root write 1 to {}.", abort_file(connection))));
}

bool WatchProcess::has_deposits() const noexcept {
    const auto process = static_cast<std::uint64_t>(process_);
    return order_.pool != nullptr &&
           std::ranges::any_of(order_.pool->clients, [process](const pool::ClientSlot& slot) {
               return slot.used.load(std::memory_order_acquire) == process;
           });
}

// The daemon has the files of captured programs leave for those that are not captured, before it
// lets go of the server's log.
bool WatchProcess::has_files_that_leave() const noexcept {
    return order_.pool != nullptr &&
           std::ranges::any_of(order_.pool->files, [](const pool::FileSlot& slot) {
               return slot.state.load(std::memory_order_acquire) == pool::FileState::leaving;
           });
}

void WatchProcess::wait_until_drained() const {
    int left = drain_ms;
    for (; left > 0 && (has_deposits() || has_files_that_leave()); left -= drain_step_ms) {
        if (is_readable(daemon_.get(), drain_step_ms)) {
            return;
        }
    }
    if (left <= 0) {
        report("forebay-mount",
               fmt::format("files below {} are older than what was written to them (the pool still "
                           "drains). Wait for `forebay pool drain`.",
                           order_.path));
    }
}

void WatchProcess::wait_for_the_end(OwnFd line) {
    std::array<pollfd, 3> all{pollfd{.fd = server_.get(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = line.get(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = daemon_.get(), .events = POLLIN, .revents = 0}};
    std::chrono::milliseconds silent{};
    for (std::uint64_t seen = 0; all[0].revents == 0;) {
        const int got = ::poll(all.data(), all.size(), tick_ms);
        if (got < 0) {
            continue;  // EINTR
        }
        if (all[1].revents != 0) {
            all[1].fd = -1;
            if (state_.unmounts.load()) {
                unmount_ours();
            }
        }
        if (all[2].revents != 0) {
            all[2].fd = -1;
            unmount_ours();
        }
        const std::uint64_t beats = state_.beats.load();
        silent = got > 0 || beats != std::exchange(seen, beats)
                     ? std::chrono::milliseconds{}
                     : silent + std::chrono::milliseconds{tick_ms};
        if (silent >= order_.stopped_max) {
            end_server();
            return;
        }
        if (silent.count() > 0 && has_only_stuck_threads()) {
            end_connection(state_.connection.load());
            return;
        }
    }
}

void WatchProcess::run(OwnFd line) {
    close_all_but(line.get());
    ::prctl(PR_SET_NAME, "forebay-watch", 0, 0, 0);
    ::setsid();
    static_cast<void>(::chdir("/") == 0);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        ::signal(signal, SIG_IGN);
    }
    wait_for_the_end(std::move(line));
    wait_until_drained();
    unmount_ours(true);
    order_.lock->remove();
    ::_exit(0);
}

}  // namespace

void MountWatcher::Unmap::operator()(WatchedState* state) const noexcept {
    ::munmap(state, sizeof *state);
}

Result<MountWatcher> MountWatcher::beside(const WatchOrder& order) {
    std::array<int, 2> ends{};
    void* const memory = ::mmap(nullptr, sizeof(WatchedState), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return failure(system_error(errno, "watch the mount"));
    }
    SharedState state{new (memory) WatchedState{}};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return failure(system_error(errno, "watch the mount"));
    }
    OwnFd watched{ends[0]};
    OwnFd kept{ends[1]};
    WatchProcess watch{order, ::getpid(), *state};
    const pid_t child = watch.valid() ? ::fork() : -1;
    if (child < 0) {
        return failure(system_error(errno, "watch the mount"));
    }
    if (child == 0) {
        kept = OwnFd{};
        watch.run(std::move(watched));
    }
    return MountWatcher{std::move(kept), std::move(state)};
}

void MountWatcher::unmount() {
    state_->unmounts.store(true);
    line_ = OwnFd{};
}

}  // namespace forebay::mount
