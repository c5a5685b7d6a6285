// The forked process that waits at a pipe for the daemon's end, and then reports what was in the
// pool.
#include "pool/daemon/liveness/watcher.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "foundation/base/host_name.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_calls.hpp"
#include "pool/daemon/status/chunked_lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <unistd.h>

namespace forebay::daemon {

namespace {

// True when the file may have deposits that are not drained.
bool holds(const pool::FileSlot& slot) noexcept {
    const auto state = slot.state.load(relaxed);
    return state == pool::FileState::pooled || state == pool::FileState::leaving;
}

void print(const std::string& line) noexcept {
    std::size_t done = 0;
    while (done < line.size()) {
        const ssize_t some = kernel::write(STDOUT_FILENO, line.data() + done, line.size() - done);
        if (some < 0 && errno != EINTR) {
            return;
        }
        done += static_cast<std::size_t>(std::max<ssize_t>(some, 0));
    }
}

// Waits for the end of the daemon, which keeps its end of the pipe open as long as it lives. True:
// it has sent the byte that says that no report is needed.
bool dismissed(int line) noexcept {
    char word = 0;
    ssize_t got = 0;
    do {
        got = kernel::read(line, &word, 1);
    } while (got < 0 && errno == EINTR);
    return got == 1;
}

[[noreturn]] void watch(const pool::Directory& directory, std::uint32_t node, int line) noexcept {
    static_cast<void>(::prctl(PR_SET_NAME, "forebayd-watch"));
    // The daemon's descriptors, which fork() duplicated, must be closed here: otherwise its clients
    // would not notice its death, as their sockets stayed open.
    constexpr int own = STDERR_FILENO + 1;
    if (line != own) {
        static_cast<void>(::dup2(line, own));
    }
    kernel::close_range(own + 1, ~0U);
    if (!dismissed(own)) {
        for (const std::string& part :
             in_parts(node, told_by_watcher(directory, node, host_name()))) {
            print(part + "\n");
        }
    }
    ::_exit(0);
}

}  // namespace

std::string told_by_watcher(const pool::Directory& directory, std::uint32_t node,
                            const std::string& host) {
    std::map<std::string, std::int64_t> files;
    for (const pool::FileSlot& slot : directory.files) {
        if (holds(slot)) {
            std::array<char, pool::path_bytes + 1> path{};
            std::ranges::copy(slot.path, path.begin());
            const std::int64_t left = slot.taken.load(relaxed) - slot.drained.load(relaxed);
            files[path.data()] += std::max<std::int64_t>(left, 0);
        }
    }
    nlohmann::ordered_json lost = nlohmann::ordered_json::array();
    for (const auto& [path, bytes] : files) {
        lost.push_back({{"path", path}, {"bytes", bytes}});
    }
    const nlohmann::ordered_json line = {
        {"schema", "forebay.pool.lost/1"}, {"node", node}, {"host", host}, {"files", lost}};
    return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<DaemonWatcher> DaemonWatcher::beside(const pool::Directory& directory, std::uint32_t node) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return failure(system_error(errno, "make a pipe"));
    }
    OwnFd reading{ends[0]};
    OwnFd writing{ends[1]};
    const pid_t child = ::fork();
    if (child < 0) {
        return failure(system_error(errno, "start a process beside the daemon"));
    }
    if (child == 0) {
        watch(directory, node, reading.get());
    }
    return DaemonWatcher{std::move(writing)};
}

void DaemonWatcher::dismiss() noexcept {
    expects(line_.valid(), "the watcher is dismissed by the daemon that it was started beside");
    const char word = '.';
    static_cast<void>(kernel::write(line_.get(), &word, 1));
}

}  // namespace forebay::daemon
