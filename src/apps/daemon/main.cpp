// forebayd --socket PATH [--rescue FOLDER]... [--samples COUNT]
//          [--node NUMBER --nodes COUNT [--host NAME]]
//
// The daemon of a node. When it listens, it prints one line of JSON on standard output
// (schema/pool.md) and nothing after it; messages go to standard error. Settings come from
// FOREBAY_SETTINGS and the environment. SIGTERM: drains everything and ends. A second SIGTERM: ends
// at once; what is not drained goes to rescue files. SIGUSR1: drains everything; from then on,
// writes go to the file system directly.
//
// The line of a daemon that is one of several in a job has the address by which the others reach
// it. The daemon then reads a line with all addresses from standard input, and prints another line
// when it is connected to them. It ends at the end of standard input, and prints its final status.
// If it is killed, a process beside it prints what is lost (schema/pool.md).
//
// Exit status: 0 everything is in its files, 1 something is not, or the daemon could not start, 2
// wrong arguments.
#include "foundation/base/host_name.hpp"
#include "foundation/base/printable.hpp"
#include "pool/daemon/liveness/watcher.hpp"
#include "pool/daemon/options.hpp"
#include "pool/daemon/server.hpp"
#include "pool/daemon/status/chunked_lines.hpp"
#include "pool/daemon/status/directory_shape.hpp"
#include "settings/settings.hpp"
#include "storage/posix/clock.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace {

using forebay::Error;
using forebay::OwnFd;
using forebay::Result;
using forebay::daemon::DaemonWatcher;
namespace cluster = forebay::cluster;
using forebay::daemon::DaemonServer;
using forebay::daemon::RescuedFile;

constexpr int all_arrived = 0;
constexpr int not_all = 1;
constexpr int wrong_arguments = 2;

int fail(const Error& error, int status) {
    std::fprintf(stderr, "forebayd: %s\n", forebay::printable(error.message).c_str());
    return status;
}

// Blocks the signals that the daemon handles, before any thread exists, and returns a signalfd.
OwnFd signals_to_hear() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
        ::sigaddset(&signals, one);
    }
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    return OwnFd{::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)};
}

// Every file that the daemon knows takes two descriptors.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// The daemon lets the programs' processes go first. Not with a journal, because then each write
// waits for the daemon.
void be_nice(const forebay::daemon::JournalOptions& journal) {
    constexpr int niceness = 5;
    if (journal.folder.empty() || !journal.keeps) {
        ::setpriority(PRIO_PROCESS, 0, niceness);
    }
}

void say_ready(const forebay::daemon::ServerOptions& options,
               const cluster::PeerConnections* peers) {
    const std::string job = peers == nullptr ? ""
                                             : fmt::format(R"("node":{},"address":"{}",)",
                                                           options.daemon.node, peers->address());
    fmt::print(R"({{"schema":"forebay.pool.ready/1","process":{},"socket":"{}",{}"directory":{}}})"
               "\n",
               ::getpid(), options.socket, job, forebay::daemon::directory_shape());
    std::fflush(stdout);
    if (peers == nullptr) {
        // A reader that waits for this line may wait for the end of the output, too.
        static_cast<void>(std::freopen("/dev/null", "w", stdout));
    }
}

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

// The first line of standard input, at most 8 MiB of it.
std::string line_of_input() {
    constexpr std::size_t bytes_max = std::size_t{8} << 20;
    std::string line;
    for (int c = std::getchar(); c != EOF && c != '\n' && line.size() < bytes_max;
         c = std::getchar()) {
        line += static_cast<char>(c);
    }
    return line;
}

Result<std::unique_ptr<cluster::PeerConnections>> listen_for_peers(
    const forebay::daemon::ServerOptions& options, const forebay::ports::TimeSource& clock) {
    if (options.daemon.nodes == 1) {
        return nullptr;
    }
    return cluster::PeerConnections::listen(
        options.host.empty() ? forebay::host_name() : options.host,
        {options.daemon.node, options.daemon.nodes}, clock);
}

Result<void> meet(cluster::PeerConnections& peers, std::uint32_t nodes) {
    const auto list = cluster::peer_list_of(line_of_input(), nodes);
    return list ? peers.join(*list) : forebay::failure(list.error());
}

int report_rescued(const DaemonServer& server) {
    for (const RescuedFile& one : server.rescued()) {
        std::fprintf(stderr, "forebayd: %lld bytes of %s did not arrive (errno %d). %s%s\n",
                     static_cast<long long>(one.bytes), forebay::printable_name(one.path).c_str(),
                     one.error,
                     one.file.empty() ? "They are lost: " : "Write them by: forebay pool rescue ",
                     one.file.empty() ? forebay::printable(one.problem).c_str()
                                      : forebay::shell_word(one.file).c_str());
    }
    return server.rescued().empty() ? all_arrived : not_all;
}

int run(std::span<char* const> words) {
    const auto settings = forebay::read_settings();
    if (!settings) {
        return fail(settings.error(), wrong_arguments);
    }
    const auto options =
        forebay::daemon::options_of(words, *settings, forebay::daemon::probe_node());
    if (!options) {
        return fail(options.error(), wrong_arguments);
    }
    OwnFd signals = signals_to_hear();
    be_nice(options->daemon.journal);
    raise_descriptor_limit();
    const forebay::adapters::SteadyClock steady;
    const forebay::adapters::CalendarClock calendar;
    const forebay::adapters::ProcessorTime effort;
    const forebay::adapters::FileTicks file_ticks;
    auto peers = listen_for_peers(*options, steady);
    if (!peers) {
        return fail(peers.error(), not_all);
    }
    auto server =
        DaemonServer::make(*options, {steady, calendar, &effort, &file_ticks}, peers->get());
    if (!server) {
        return fail(server.error(), not_all);
    }
    if (const auto heard = (*server)->listen(std::move(signals)); !heard) {
        return fail(heard.error(), not_all);
    }
    std::optional<DaemonWatcher> watcher;
    if (*peers) {
        auto beside = DaemonWatcher::beside((*server)->directory(), options->daemon.node);
        if (!beside) {
            return fail(beside.error(), not_all);
        }
        watcher.emplace(std::move(*beside));
    }
    say_ready(*options, peers->get());
    if (*peers) {
        if (const auto met = meet(**peers, options->daemon.nodes); !met) {
            watcher->dismiss();
            return fail(met.error(), not_all);
        }
        say(fmt::format(R"({{"schema":"forebay.pool.joined/1","node":{}}})", options->daemon.node));
        (*server)->stop_when_closed(STDIN_FILENO);
    }
    (*server)->run();
    if (*peers) {
        for (const std::string& part :
             forebay::daemon::in_parts(options->daemon.node, (*server)->report())) {
            say(part);
        }
        watcher->dismiss();
    }
    const int status = report_rescued(**server);
    if (status != all_arrived || (*server)->gave_up()) {
        std::_Exit(status);  // without waiting for threads that may hang in the file system
    }
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "forebayd: cannot go on (%s). Tell us how to see it again.\n",
                     problem.what());
        return not_all;
    }
}
