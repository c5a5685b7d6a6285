// Starts MPI with janitor and monitor, and wraps MPI's collectives.
#include "benchmarks/session/session.hpp"

#include "benchmarks/measure/statistics.hpp"
#include "benchmarks/session/terminal.hpp"
#include "benchmarks/session/together.hpp"
#include "foundation/base/counted.hpp"
#include "foundation/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

// All ranks notice the time limit, and most a stall. The first process to end makes MPI end the
// others, so all ranks but 0 wait a moment: the message then appears once, and from rank 0 if it
// can.
[[noreturn]] void stop_process(const measure::RunStop& stop, std::int32_t rank,
                               const std::function<void()>& clean_up) {
    if (clean_up) {
        clean_up();
    }
    if (rank != 0) {
        constexpr timespec moment{1, 500'000'000};
        ::nanosleep(&moment, nullptr);
    }
    std::fputs(fmt::format("forebay: {}\n", printable(stop.message)).c_str(), stderr);
    ::_exit(measure::exit_status(stop));
}

// The present time; `parted` is gmtime_r or localtime_r.
std::string now_as(const char* format, std::tm* (*parted)(const std::time_t*, std::tm*)) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    parted(&now, &parts);
    std::array<char, 64> text{};
    std::strftime(text.data(), text.size(), format, &parts);
    return text.data();
}

}  // namespace

ExitStatus status_of(const Error& error) noexcept {
    return error.code == ErrorCode::argument || error.code == ErrorCode::unsupported
               ? ExitStatus::usage
               : ExitStatus::input_output;
}

MpiLifetime::MpiLifetime(int* argc, char*** argv) {
    const measure::StopSignalsWait inherited;  // inherited by the MPI's threads
    int provided = 0;
    // FUNNELED suffices: the monitor's thread makes no MPI call except MPI_Abort.
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
}

BenchmarkSession::BenchmarkSession(int* argc, char*** argv)
    : janitor_(Janitor::of_this_node()), mpi_(argc, argv), node_(MPI_COMM_WORLD) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    gather_hosts();
}

BenchmarkSession::~BenchmarkSession() { unwatch(); }

void BenchmarkSession::gather_hosts() {
    const HostName mine = own_host();
    std::vector<HostName> all(is_first() ? static_cast<std::size_t>(ranks_) : 0);
    node_of_.resize(all.size());
    MPI_Gather(&mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, 0, world());
    const std::int32_t leader = node_.leader();
    MPI_Gather(&leader, 1, MPI_INT32_T, node_of_.data(), 1, MPI_INT32_T, 0, world());
    for (const HostName& host : all) {
        hosts_.emplace_back(host.data());
    }
    if (!is_first()) {
        hosts_.emplace_back(mine.data());
    }
}

std::int32_t BenchmarkSession::nodes() const noexcept {
    std::vector<std::int32_t> first = node_of_;
    std::sort(first.begin(), first.end());
    return static_cast<std::int32_t>(std::unique(first.begin(), first.end()) - first.begin());
}

Result<void> BenchmarkSession::agreed(const Result<void>& mine, MPI_Comm ranks) const {
    return bench::agreed(mine, ranks);
}

std::string BenchmarkSession::told(std::string text) const {
    auto length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, world());
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, world());
    return text;
}

std::vector<std::int32_t> BenchmarkSession::nodes_of_all() const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(ranks_));
    const std::int32_t leader = node_.leader();
    MPI_Allgather(&leader, 1, MPI_INT32_T, all.data(), 1, MPI_INT32_T, world());
    return all;
}

void BenchmarkSession::barrier(MPI_Comm ranks) const { MPI_Barrier(ranks); }

void BenchmarkSession::quiet_barrier() const {
    constexpr timespec nap{0, 1'000'000};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(world(), &request);
    for (int done = 0; done == 0;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done == 0) {
            ::nanosleep(&nap, nullptr);
        }
    }
}

measure::LatencyHistogram BenchmarkSession::merged(const measure::LatencyHistogram& mine,
                                                   MPI_Comm ranks) const {
    return bench::merged(mine, ranks);
}

RankSpread BenchmarkSession::spread(double mine, MPI_Comm ranks) const {
    int size = 0;
    MPI_Comm_size(ranks, &size);
    RankSpread result;
    result.ranks.resize(static_cast<std::size_t>(size));
    MPI_Gather(&mine, 1, MPI_DOUBLE, result.ranks.data(), 1, MPI_DOUBLE, 0, ranks);
    if (!is_first()) {
        return {};
    }
    const auto [least, most] = std::minmax_element(result.ranks.begin(), result.ranks.end());
    result.least = *least;
    result.most = *most;
    result.median = measure::median(result.ranks);
    result.slowest_rank = most - result.ranks.begin();
    result.slowest_host = hosts_[static_cast<std::size_t>(result.slowest_rank)];
    std::map<std::int32_t, RankSpread::Node> nodes;
    for (std::size_t at = 0; at < result.ranks.size(); ++at) {
        RankSpread::Node& node = nodes[node_of_[at]];
        node.host = hosts_[at];
        node.most = std::max(node.most, result.ranks[at]);
    }
    for (auto& [first, node] : nodes) {
        result.nodes.push_back(std::move(node));
    }
    return result;
}

std::int64_t BenchmarkSession::sum(std::int64_t mine, MPI_Comm ranks) const {
    return bench::sum(mine, ranks);
}

double BenchmarkSession::most(double mine, MPI_Comm ranks) const {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, ranks);
    return all;
}

double BenchmarkSession::late(std::int64_t began_ns, MPI_Comm ranks) const {
    if (sum(node_.shares_cores() ? 1 : 0, ranks) == 0) {
        return 0.0;
    }
    int size = 0;
    MPI_Comm_size(ranks, &size);
    const std::array<std::int64_t, 2> mine{node_.leader(), began_ns};
    std::vector<std::array<std::int64_t, 2>> all(static_cast<std::size_t>(size));
    MPI_Allgather(mine.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, ranks);
    std::int64_t first = began_ns;
    for (const auto& [leader, began] : all) {
        first = leader == mine[0] ? std::min(first, began) : first;
    }
    return node_.shares_cores() ? static_cast<double>(began_ns - first) * 1e-9 : 0.0;
}

double BenchmarkSession::least(double mine, MPI_Comm ranks) const {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MIN, ranks);
    return all;
}

std::vector<std::string> BenchmarkSession::gathered(const std::vector<std::string>& mine,
                                                    std::size_t most) const {
    std::string text;
    for (std::size_t at = 0; at < std::min(mine.size(), most); ++at) {
        text += mine[at] + '\n';
    }
    std::string all;
    for (const std::string& part : bench::gathered(text, world())) {
        all += part;
    }
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < all.size() && lines.size() < most;) {
        const std::size_t end = all.find('\n', begin);
        lines.push_back(all.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

std::optional<std::string> BenchmarkSession::oversubscribed() const {
    if (!node_.shares_cores()) {
        return std::nullopt;
    }
    return fmt::format(
        "{} share the {} of {} (waiting ranks of an MPI spin). Times "
        "are those of the scheduler as much as of the file system: use at most {} "
        "a node.",
        counted(node_.ranks(), "rank"), counted(node_.cores(), "core"), host(),
        counted(node_.cores(), "rank"));
}

std::string BenchmarkSession::mpi_version() const {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string whole(text.data());
    whole = whole.substr(0, whole.find_first_of("\n,"));
    std::replace(whole.begin(), whole.end(), '\t', ' ');
    return whole;
}

void BenchmarkSession::watch(const MonitorOptions& options) {
    barrier();
    const bool live = options.live && is_first() && speaks_to_terminal();
    monitor_ = std::make_unique<measure::Monitor>(measure::Monitor::Options{
        .slots = node_.slots(),
        .own = static_cast<std::size_t>(node_.rank()),
        .first_rank = node_.leader(),
        .stall_seconds = options.stall_seconds,
        .limit_seconds = options.limit_seconds,
        .live = live,
        .counted = options.counted,
        .stop = [rank = rank_, clean_up = options.clean_up](const measure::RunStop& stop) {
            stop_process(stop, rank, clean_up);
        }});
}

void BenchmarkSession::begin(const std::string& phase, std::int64_t bytes_of_node) {
    if (monitor_) {
        monitor_->begin(phase, bytes_of_node);
    }
}

void BenchmarkSession::end() {
    if (monitor_) {
        monitor_->end();
    }
}

void BenchmarkSession::unwatch() {
    if (monitor_) {
        monitor_->end();
        monitor_.reset();
        barrier();
    }
}

std::string utc_now() { return now_as("%Y-%m-%dT%H:%M:%SZ", ::gmtime_r); }

std::string time_of_day() { return now_as("%a %b %e %H:%M:%S %Y", ::localtime_r); }

std::int64_t peak_memory_bytes() {
    struct rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::optional<std::int64_t> free_bytes(const std::string& directory) {
    struct statvfs facts{};
    if (::statvfs(directory.c_str(), &facts) != 0) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize);
}

}  // namespace forebay::bench
