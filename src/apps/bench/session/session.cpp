// See session.hpp.
#include "apps/bench/session/session.hpp"

#include "apps/bench/session/cores.hpp"
#include "measure/statistics.hpp"

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

constexpr std::size_t host_bytes = 64;
using HostName = std::array<char, host_bytes>;

HostName own_host() {
    HostName name{};
    ::gethostname(name.data(), name.size() - 1);
    return name;
}

// All ranks see that the time is over, and most see a stall. The first to leave takes the others
// with it, so all but rank 0 wait a moment: the message is said once, and by someone.
[[noreturn]] void stop_process(const measure::Stop& stop, std::int32_t rank,
                               const std::function<void()>& clean_up) {
    if (clean_up) {
        clean_up();
    }
    if (rank != 0) {
        constexpr timespec moment{1, 500'000'000};
        ::nanosleep(&moment, nullptr);
    }
    std::fputs(fmt::format("forebay: {}\n", stop.message).c_str(), stderr);
    ::_exit(measure::exit_status(stop));
}

}  // namespace

ExitStatus status_of(const Error& error) noexcept {
    return error.code == ErrorCode::argument || error.code == ErrorCode::unsupported
               ? ExitStatus::usage
               : ExitStatus::input_output;
}

Session::Session(int* argc, char*** argv) : janitor_(Janitor::of_this_node()) {
    {
        const measure::StopSignalsWait inherited;  // by the MPI's threads
        MPI_Init(argc, argv);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_);
    MPI_Comm_rank(node_, &local_rank_);
    MPI_Comm_size(node_, &local_ranks_);
    first_here_ = rank_;
    MPI_Bcast(&first_here_, 1, MPI_INT32_T, 0, node_);
    cores_here_ = cores_of(node_);
    gather_hosts();
    share_slots();
}

Session::~Session() {
    unwatch();
    MPI_Win_free(&window_);
    MPI_Comm_free(&node_);
    MPI_Finalize();
}

void Session::gather_hosts() {
    const HostName mine = own_host();
    std::vector<HostName> all(is_first() ? static_cast<std::size_t>(ranks_) : 0);
    node_of_.resize(all.size());
    MPI_Gather(mine.data(), host_bytes, MPI_CHAR, all.data(), host_bytes, MPI_CHAR, 0, world());
    MPI_Gather(&first_here_, 1, MPI_INT32_T, node_of_.data(), 1, MPI_INT32_T, 0, world());
    for (const HostName& host : all) {
        hosts_.emplace_back(host.data());
    }
    if (!is_first()) {
        hosts_.emplace_back(mine.data());
    }
}

void Session::share_slots() {
    void* base = nullptr;
    const auto bytes = static_cast<MPI_Aint>(sizeof(measure::ProgressSlot));
    const MPI_Aint here = local_rank_ == 0 ? bytes * (local_ranks_ + 1) : 0;
    MPI_Win_allocate_shared(here, 1, MPI_INFO_NULL, node_, static_cast<void*>(&base), &window_);
    MPI_Aint size = 0;
    int unit = 1;
    MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&base));
    // Open MPI's memory begins at any multiple of 16, a slot at one of 64: one more was asked for.
    auto room = static_cast<std::size_t>(size);
    std::align(alignof(measure::ProgressSlot), sizeof(measure::ProgressSlot), base, room);
    slots_ = {static_cast<measure::ProgressSlot*>(base), static_cast<std::size_t>(local_ranks_)};
    own_slot_ = &slots_[static_cast<std::size_t>(local_rank_)];
    own_slot_->bytes.store(0);
    own_slot_->calls.store(0);
    own_slot_->process.store(0);
    own_slot_->working.store(0);
    MPI_Barrier(node_);
}

std::int32_t Session::nodes() const noexcept {
    std::vector<std::int32_t> first = node_of_;
    std::sort(first.begin(), first.end());
    return static_cast<std::int32_t>(std::unique(first.begin(), first.end()) - first.begin());
}

Result<void> Session::agreed(const Result<void>& mine, MPI_Comm ranks) const {
    int own = 0;
    int size = 0;
    MPI_Comm_rank(ranks, &own);
    MPI_Comm_size(ranks, &size);
    const int failed = mine ? size : own;
    int first = size;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, ranks);
    if (first == size) {
        return {};
    }
    std::string text;
    std::array<int, 3> numbers{};
    if (first == own) {
        text =
            size > 1 ? fmt::format("rank {}: {}", own, mine.error().message) : mine.error().message;
        numbers = {static_cast<int>(mine.error().code), mine.error().system,
                   static_cast<int>(text.size())};
    }
    MPI_Bcast(numbers.data(), 3, MPI_INT, first, ranks);
    text.resize(static_cast<std::size_t>(numbers[2]));
    MPI_Bcast(text.data(), numbers[2], MPI_CHAR, first, ranks);
    return failure(Error{static_cast<ErrorCode>(numbers[0]), numbers[1], text});
}

std::string Session::told(std::string text) const {
    auto length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, world());
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, world());
    return text;
}

std::vector<std::int32_t> Session::nodes_of_all() const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(ranks_));
    MPI_Allgather(&first_here_, 1, MPI_INT32_T, all.data(), 1, MPI_INT32_T, world());
    return all;
}

void Session::barrier(MPI_Comm ranks) const { MPI_Barrier(ranks); }

void Session::quiet_barrier() const {
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

measure::Histogram Session::merged(const measure::Histogram& mine, MPI_Comm ranks) const {
    const auto counts = mine.counts();
    std::vector<std::uint64_t> all(counts.size());
    MPI_Reduce(counts.data(), all.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM, 0,
               ranks);
    const auto own = mine.extremes();
    measure::Histogram::Extremes extremes;
    MPI_Reduce(&own.min, &extremes.min, 1, MPI_UINT64_T, MPI_MIN, 0, ranks);
    MPI_Reduce(&own.max, &extremes.max, 1, MPI_UINT64_T, MPI_MAX, 0, ranks);
    MPI_Reduce(&own.sum, &extremes.sum, 1, MPI_UINT64_T, MPI_SUM, 0, ranks);
    return measure::Histogram::merged(all, extremes);
}

Spread Session::spread(double mine, MPI_Comm ranks) const {
    int size = 0;
    MPI_Comm_size(ranks, &size);
    Spread result;
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
    std::map<std::int32_t, Spread::Node> nodes;
    for (std::size_t at = 0; at < result.ranks.size(); ++at) {
        Spread::Node& node = nodes[node_of_[at]];
        node.host = hosts_[at];
        node.most = std::max(node.most, result.ranks[at]);
    }
    for (auto& [first, node] : nodes) {
        result.nodes.push_back(std::move(node));
    }
    return result;
}

std::int64_t Session::sum(std::int64_t mine, MPI_Comm ranks) const {
    std::int64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, ranks);
    return all;
}

double Session::most(double mine, MPI_Comm ranks) const {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, ranks);
    return all;
}

double Session::least(double mine, MPI_Comm ranks) const {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MIN, ranks);
    return all;
}

std::vector<std::string> Session::gathered(const std::vector<std::string>& mine,
                                           std::size_t most) const {
    std::string text;
    for (std::size_t at = 0; at < std::min(mine.size(), most); ++at) {
        text += mine[at] + '\n';
    }
    const auto length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks_));
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, world());
    std::vector<int> begins(lengths.size());
    int total = 0;
    for (std::size_t at = 0; at < lengths.size(); ++at) {
        begins[at] = total;
        total += lengths[at];
    }
    std::string all(static_cast<std::size_t>(total), ' ');
    MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR,
                0, world());
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < all.size() && lines.size() < most;) {
        const std::size_t end = all.find('\n', begin);
        lines.push_back(all.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

std::optional<std::string> Session::oversubscribed() const {
    if (local_ranks_ <= cores_here_) {
        return std::nullopt;
    }
    return fmt::format(
        "{} ranks share the {} cores of {} (waiting ranks of an MPI spin). Times "
        "are those of the scheduler as much as of the file system: use at most {} "
        "ranks a node.",
        local_ranks_, cores_here_, host(), cores_here_);
}

std::string Session::mpi_version() const {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string whole(text.data());
    whole = whole.substr(0, whole.find_first_of("\n,"));
    std::replace(whole.begin(), whole.end(), '\t', ' ');
    return whole;
}

void Session::watch(const MonitorOptions& options) {
    barrier();
    const bool live = options.live && is_first() && ::isatty(STDERR_FILENO) == 1;
    monitor_ = std::make_unique<measure::Monitor>(measure::Monitor::Options{
        .slots = slots_,
        .own = static_cast<std::size_t>(local_rank_),
        .first_rank = first_here_,
        .stall_seconds = options.stall_seconds,
        .limit_seconds = options.limit_seconds,
        .live = live,
        .counted = options.counted,
        .stop = [rank = rank_, clean_up = options.clean_up](const measure::Stop& stop) {
            stop_process(stop, rank, clean_up);
        }});
}

void Session::begin(const std::string& phase, std::int64_t bytes_of_node) {
    if (monitor_) {
        monitor_->begin(phase, bytes_of_node);
    }
}

void Session::end() {
    if (monitor_) {
        monitor_->end();
    }
}

void Session::unwatch() {
    if (monitor_) {
        monitor_->end();
        monitor_.reset();
        barrier();
    }
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

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
