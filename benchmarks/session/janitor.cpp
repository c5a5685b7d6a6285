// The janitor's process. Its pipe carries lines: "+name" to remember a file, "*name" a directory
// with its contents, "-" to forget all, "." when the run is being ended.
#include "benchmarks/session/janitor.hpp"

#include "foundation/kernel/newer_calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

bool is_first_of_node() noexcept {
    // Safe: called before any thread is created.
    for (const char* name :
         {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID"}) {
        if (const char* text = std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe)
            return std::strcmp(text, "0") == 0;
        }
    }
    // Without a launcher this is the only rank. With an unknown launcher each rank gets a janitor
    // of its own, which costs a process and removes the same files.
    return true;
}

void remove_all(const std::vector<std::string>& lines, const timespec& ended) {
    for (const std::string& line : lines) {
        const std::string name = line.substr(1);
        if (line.starts_with('*')) {
            constexpr int tries_max = 100;
            remove_tree(name, tries_max, ended);
        } else if (is_younger(name, ended)) {
            continue;
        } else if (name.ends_with('/')) {
            ::rmdir(name.c_str());
        } else {
            ::unlink(name.c_str());
        }
    }
}

// The janitor's knowledge of its run.
struct JanitorState {
    std::vector<std::string> lines;
    std::optional<timespec> ended;

    void take(const std::string& line) {
        if (line.starts_with('-')) {
            lines.clear();
        } else if (line.starts_with('.')) {
            ended = ended ? ended : moment_now();
        } else {
            lines.push_back(line);
        }
    }
};

// Closes all descriptors but one: the launcher waits for the end of the ranks' output, which a
// janitor that kept it open would delay.
void close_all_but(int kept) {
    const auto pipe = static_cast<unsigned>(kept);
    if (pipe > 0) {
        kernel::close_range(0, pipe - 1);
    }
    kernel::close_range(pipe + 1, ~0U);
}

// Lives until its rank has ended, for whatever reason.
[[noreturn]] void keep_watch(int pipe) {
    ::setsid();
    close_all_but(pipe);
    JanitorState known;
    std::string line;
    std::array<char, 4096> part{};
    for (;;) {
        const ssize_t got = ::read(pipe, part.data(), part.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        for (ssize_t i = 0; i < got; ++i) {
            const char c = part[static_cast<std::size_t>(i)];
            if (c == '\0') {
                known.take(line);
                line.clear();
            } else {
                line += c;
            }
        }
    }
    const timespec ended = known.ended.value_or(moment_now());
    // Waits, because ranks that are killed a moment later may still write to a directory.
    if (!known.lines.empty()) {
        const timespec moment{0, 200'000'000};
        ::nanosleep(&moment, nullptr);
        remove_all(known.lines, ended);
    }
    std::_Exit(0);
}

}  // namespace

timespec moment_now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

bool is_younger(const std::string& path, const timespec& moment) noexcept {
    struct statx facts{};
    if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &facts) != 0 ||
        (facts.stx_mask & STATX_BTIME) == 0) {
        return false;
    }
    return facts.stx_btime.tv_sec > moment.tv_sec ||
           (facts.stx_btime.tv_sec == moment.tv_sec &&
            static_cast<long>(facts.stx_btime.tv_nsec) > moment.tv_nsec);
}

bool remove_tree(const std::string& directory, int tries_max, const timespec& ended) {
    constexpr timespec moment{0, 100'000'000};
    std::error_code error;
    for (int i = 0; i < tries_max && !is_younger(directory, ended); ++i) {
        std::filesystem::remove_all(directory, error);
        if (!error) {
            return true;
        }
        ::nanosleep(&moment, nullptr);
    }
    return is_younger(directory, ended);
}

Janitor Janitor::of_this_node() {
    Janitor made;
    std::array<int, 2> ends{};
    if (!is_first_of_node() || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return made;
    }
    OwnFd reads(ends[0]);
    made.pipe_ = OwnFd(ends[1]);
    if (::fork() == 0) {
        keep_watch(reads.get());
    }
    std::signal(SIGPIPE, SIG_IGN);
    return made;
}

void Janitor::send_line(const std::string& text) {
    std::size_t done = 0;
    while (pipe_.valid() && done < text.size()) {
        const ssize_t put = ::write(pipe_.get(), text.data() + done, text.size() - done);
        if (put < 0 && errno != EINTR) {
            return;  // the janitor has ended; nothing depends on it
        }
        done += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
    }
}

void Janitor::watch_over(const std::vector<std::string>& names) {
    std::string text("-\0", 2);
    for (const std::string& name : names) {
        text += '+' + name + '\0';
    }
    send_line(text);
}

void Janitor::watch_over_trees(const std::vector<std::string>& directories,
                               const std::vector<std::string>& empties) {
    std::string text("-\0", 2);
    for (const std::string& directory : directories) {
        text += '*' + directory + '\0';
    }
    for (const std::string& directory : empties) {
        text += '+' + directory + "/" + '\0';
    }
    send_line(text);
}

void Janitor::run_ends() { send_line(std::string(".\0", 2)); }

void Janitor::dismiss() { send_line(std::string("-\0", 2)); }

}  // namespace forebay::bench
