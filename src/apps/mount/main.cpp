// forebay-mount [--socket PATH] [--allow-other] [--captured] [--private | --within PROCESS]
//               [--timeout SECONDS] [--fast FOLDER [--policy WORDS] [--wait SECONDS] [--end TIME]
//               [--room BYTES] [--high PERCENT] [--low PERCENT] [--shared] [--leave]] DIRECTORY
// forebay-mount --enter PROCESS FOLDER COMMAND...
//
// A FUSE mount over a directory. The kernel sends programs' calls on the directory to this process,
// which carries them out on the directory below; the bytes of files go through the pool whose
// daemon listens at the socket. Prints one line of JSON on standard output when it is mounted;
// messages go to standard error. SIGTERM unmounts; the process ends when no file of the mount is
// open any more.
//
// With --private, the mount is in new user and mount namespaces, where nobody outside sees it; with
// --within, in those of another forebay-mount. The second form becomes COMMAND, in FOLDER as it is
// there. A server that does not run for SECONDS (default: 60), such as a stopped one, is ended.
//
// With --fast, files have replicas in FOLDER (tier/live); WORDS are the policy of folders that have
// none of their own ("write"). Where a tier of another node has newer bytes of a file, its open
// waits for SECONDS (60) without progress, and fails then. TIME is when the batch job ends, in
// seconds since the epoch: all that no user keeps is moved before. Replicas take no more than BYTES
// (all of FOLDER's file system), and make way above PERCENT of that (90), until no more than
// PERCENT is used (70). --shared: other nodes change files below DIRECTORY, so that the kernel
// remembers neither names nor attributes. At the end what is not moved yet is moved, or left with
// --leave.
//
// Exit status: 0 it was unmounted, 1 it could not be mounted, 2 wrong arguments, 3 it was
// unmounted, but files could not be moved from fast storage. The second form has the command's, 126
// if that cannot be executed, and 127 if it is not found.
#include "foundation/base/printable.hpp"
#include "pool/mount/serving/mount_server.hpp"
#include "pool/mount/serving/mount_watcher.hpp"
#include "pool/mount/serving/private_namespace.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace {

using forebay::mount::MountOptions;
using forebay::mount::MountServer;
using forebay::mount::MountWatcher;
using forebay::mount::WatchOrder;

constexpr int unmounted = 0;
constexpr int not_mounted = 1;
constexpr int wrong_arguments = 2;
constexpr int not_moved = 3;
constexpr std::int64_t percent_max = 100;
constexpr std::int64_t end_max = 9'000'000'000;  // seconds since the epoch

int fail(const forebay::Error& error, int status) {
    std::fprintf(stderr, "forebay-mount: %s\n", forebay::printable(error.message).c_str());
    return status;
}

// The command line. `within` is the process whose namespaces are entered; 0: none.
struct MountCommand {
    MountOptions options;
    bool is_private = false;
    pid_t within = 0;
    std::chrono::seconds stopped_max{60};
    bool leaves = false;  // what is dirty in fast storage at the end
};

// A number that is more than 0; otherwise 0.
template <class Number = int>
Number number_of(std::string_view text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? std::max(number, Number{0})
                                                                    : 0;
}

// An option of a tier that has a value; false: it is none.
bool take_tier_option(std::string_view word, const char* value, MountOptions& options) {
    if (word == "--fast") {
        options.fast = value;
    } else if (word == "--policy") {
        options.tier_policy = value;
    } else if (word == "--wait") {
        options.tier_wait = std::chrono::seconds{number_of(value)};
    } else if (word == "--end") {
        options.tier_end = std::chrono::seconds{std::min(number_of<std::int64_t>(value), end_max)};
    } else if (word == "--room") {
        options.tier_room = number_of<std::int64_t>(value);
    } else if (word == "--high") {
        options.tier_high = std::min(number_of<std::int64_t>(value), percent_max);
    } else if (word == "--low") {
        options.tier_low = std::min(number_of<std::int64_t>(value), percent_max);
    } else {
        return false;
    }
    return true;
}

std::optional<MountCommand> command_of(std::span<char* const> words) {
    MountCommand command;
    MountOptions& options = command.options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "--socket" && i + 1 < words.size()) {
            options.socket = words[++i];
        } else if (word == "--allow-other") {
            options.allow_other = true;
        } else if (word == "--private") {
            command.is_private = true;
        } else if (word == "--timeout" && i + 1 < words.size()) {
            command.stopped_max = std::chrono::seconds{std::max(number_of(words[++i]), 1)};
        } else if (word == "--shared") {
            options.tier_shared = true;
        } else if (i + 1 < words.size() && take_tier_option(word, words[i + 1], options)) {
            ++i;
        } else if (word == "--leave") {
            command.leaves = true;
        } else if (word == "--within" && i + 1 < words.size()) {
            command.within = number_of(words[++i]);
        } else if (word == "--captured") {
            options.captured = true;
        } else if (!word.starts_with("--") && options.directory.empty()) {
            options.directory = word;
        } else {
            return std::nullopt;
        }
    }
    options.in_namespace = command.is_private || command.within != 0;
    return options.directory.starts_with("/") ? std::optional{command} : std::nullopt;
}

// Each inode that the kernel knows takes a descriptor. SIGXFSZ is ignored, because a write beyond
// this process's RLIMIT_FSIZE must fail for its caller, and not end the mount for all of them.
void raise_limits() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    ::signal(SIGXFSZ, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
}

// Enters the namespaces that the command line asks for.
forebay::Result<void> enter(const MountCommand& command) {
    if (command.within != 0) {
        return forebay::mount::enter_namespace_of(command.within);
    }
    return command.is_private ? forebay::mount::enter_new_namespace() : forebay::Result<void>{};
}

// Runs as long as the process: has the watcher unmount at a signal, and tells it that this process
// runs.
[[noreturn]] void wait_for_signal(const sigset_t& signals, MountWatcher& watcher) {
    constexpr timespec beat_every{
        .tv_sec = 0, .tv_nsec = std::chrono::nanoseconds{MountWatcher::beat_every}.count()};
    for (;;) {
        if (::sigtimedwait(&signals, nullptr, &beat_every) > 0) {
            watcher.unmount();
        }
        watcher.beat();
    }
}

// Moves what is in fast storage, when no program can change it any more. Returns the exit status.
int end_tier(MountServer& server, bool leaves) {
    if (server.tier() == nullptr) {
        return unmounted;
    }
    if (leaves) {
        server.tier()->leave();
        return unmounted;
    }
    return server.tier()->finish() == 0 ? unmounted : not_moved;
}

int run(std::span<char* const> words) {
    constexpr std::size_t enter_words = 3;
    if (words.size() > enter_words && std::string_view{words[0]} == "--enter") {
        return forebay::mount::become_program_within(number_of(words[1]), words[2],
                                                     words.subspan(enter_words));
    }
    const auto command = command_of(words);
    if (!command) {
        std::fputs(
            "forebay-mount: cannot use these arguments (it takes [--socket PATH] [--allow-other] "
            "[--captured] [--private | --within PROCESS] [--timeout SECONDS] [--fast FOLDER "
            "[--policy WORDS] [--wait SECONDS] [--end TIME] [--room BYTES] [--high PERCENT] "
            "[--low PERCENT] [--shared] [--leave]] and the absolute "
            "path of a "
            "directory). Give these.\n",
            stderr);
        return wrong_arguments;
    }
    const MountOptions* const options = &command->options;
    raise_limits();
    if (const auto entered = enter(*command); !entered) {
        return fail(entered.error(), not_mounted);
    }
    if (::chdir("/") != 0) {
        return fail(forebay::system_error(errno, "go to /"), not_mounted);
    }
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int one : {SIGTERM, SIGINT, SIGHUP}) {
        ::sigaddset(&signals, one);
    }
    auto server = MountServer::make(*options);
    if (!server) {
        return fail(server.error(), not_mounted);
    }
    const WatchOrder order{.path = options->directory,
                           .daemon = (*server)->daemon(),
                           .pool = (*server)->pool(),
                           .lock = &(*server)->lock(),
                           .stopped_max = command->stopped_max};
    auto watcher = MountWatcher::beside(order);
    if (!watcher) {
        return fail(watcher.error(), not_mounted);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    if (const auto mounted = (*server)->mount(); !mounted) {
        return fail(mounted.error(), not_mounted);
    }
    watcher->mounted((*server)->connection());
    std::thread{[&signals, &watcher] { wait_for_signal(signals, *watcher); }}.detach();
    fmt::print(R"({{"schema":"forebay.mount.ready/1","process":{}}})"
               "\n",
               ::getpid());
    std::fflush(stdout);
    // A reader that waits for this line may wait for the end of the output, too.
    static_cast<void>(std::freopen("/dev/null", "w", stdout));
    (*server)->serve();
    const int status = end_tier(**server, command->leaves);
    (*server)->lock().remove();
    // Skips destructors, because the thread that waits for signals uses `watcher` and `signals`.
    std::_Exit(status);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "forebay-mount: cannot go on (%s). Tell us how to see it again.\n",
                     problem.what());
        return not_mounted;
    }
}
