// The ranks of a benchmark: their placement, agreement on errors, reductions to one record, and the
// watchdog that ends a stalled run.
#pragma once

#include "benchmarks/measure/exit_status.hpp"
#include "benchmarks/measure/histogram.hpp"
#include "benchmarks/measure/monitor.hpp"
#include "benchmarks/session/janitor.hpp"
#include "benchmarks/session/node.hpp"
#include "foundation/base/result.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mpi.h>
#include <optional>
#include <string>
#include <vector>

namespace forebay::bench {

using measure::ExitStatus;

// The exit status for a failed step.
[[nodiscard]] ExitStatus status_of(const Error& error) noexcept;

struct RankSpread {
    double least = 0.0;
    double median = 0.0;
    double most = 0.0;
    std::int64_t slowest_rank = 0;
    std::string slowest_host;
    std::vector<double> ranks;  // of each rank, in rank order
    struct Node {
        std::string host;
        double most = 0.0;
    };
    std::vector<Node> nodes;
};

struct MonitorOptions {
    std::optional<double> stall_seconds;
    std::optional<double> limit_seconds;
    bool live = true;
    measure::CountedUnit counted = measure::CountedUnit::bytes;
    std::function<void()> clean_up;  // called in the monitor's thread; removes this rank's files
};

// MPI_Init and MPI_Finalize as an object.
class MpiLifetime {
public:
    MpiLifetime(int* argc, char*** argv);
    ~MpiLifetime() { MPI_Finalize(); }
    MpiLifetime(const MpiLifetime&) = delete;
    MpiLifetime& operator=(const MpiLifetime&) = delete;
    MpiLifetime(MpiLifetime&&) = delete;
    MpiLifetime& operator=(MpiLifetime&&) = delete;
};

class BenchmarkSession {
public:
    // Calls MPI_Init. Only one per process, before any thread: it forks the node's janitor.
    BenchmarkSession(int* argc, char*** argv);
    ~BenchmarkSession();
    BenchmarkSession(const BenchmarkSession&) = delete;
    BenchmarkSession& operator=(const BenchmarkSession&) = delete;
    BenchmarkSession(BenchmarkSession&&) = delete;
    BenchmarkSession& operator=(BenchmarkSession&&) = delete;

    [[nodiscard]] MPI_Comm world() const noexcept { return MPI_COMM_WORLD; }
    [[nodiscard]] std::int32_t rank() const noexcept { return rank_; }
    [[nodiscard]] std::int32_t ranks() const noexcept { return ranks_; }
    [[nodiscard]] bool is_first() const noexcept { return rank_ == 0; }
    [[nodiscard]] bool is_first_here() const noexcept { return node_.rank() == 0; }
    [[nodiscard]] std::int32_t nodes() const noexcept;
    [[nodiscard]] Janitor& janitor() noexcept { return janitor_; }
    [[nodiscard]] std::int32_t ranks_here() const noexcept { return node_.ranks(); }
    [[nodiscard]] const std::string& host() const noexcept { return hosts_[0]; }

    // Collective over `ranks`: all ranks get the error of the lowest rank that has one; its message
    // names that rank.
    Result<void> agreed(const Result<void>& mine, MPI_Comm ranks = MPI_COMM_WORLD) const;
    // Collective: broadcasts rank 0's text.
    [[nodiscard]] std::string told(std::string text) const;
    // Collective: for each rank of the world, the lowest rank of its node.
    [[nodiscard]] std::vector<std::int32_t> nodes_of_all() const;
    void barrier(MPI_Comm ranks = MPI_COMM_WORLD) const;
    // A barrier of all ranks that sleeps, so that waiting ranks leave the cores to those that work.
    void quiet_barrier() const;

    // Reductions, collective over the first ranks of the world; the results are valid on rank 0.
    [[nodiscard]] measure::LatencyHistogram merged(const measure::LatencyHistogram& mine,
                                                   MPI_Comm ranks) const;
    [[nodiscard]] RankSpread spread(double mine, MPI_Comm ranks) const;
    [[nodiscard]] std::int64_t sum(std::int64_t mine, MPI_Comm ranks = MPI_COMM_WORLD) const;
    [[nodiscard]] double most(double mine, MPI_Comm ranks = MPI_COMM_WORLD) const;
    // If ranks share cores, and so leave a barrier one after the other: the seconds by which this
    // rank began after the first of its node. Else 0, so that no scheduling jitter counts.
    [[nodiscard]] double late(std::int64_t began_ns, MPI_Comm ranks = MPI_COMM_WORLD) const;
    [[nodiscard]] double least(double mine, MPI_Comm ranks = MPI_COMM_WORLD) const;
    // Gathers the texts of all ranks, `most` at most.
    [[nodiscard]] std::vector<std::string> gathered(const std::vector<std::string>& mine,
                                                    std::size_t most) const;

    // "12 ranks share 4 cores …" if ranks share cores.
    [[nodiscard]] std::optional<std::string> oversubscribed() const;
    [[nodiscard]] std::string mpi_version() const;

    // Collective. From here on a stall, a dead peer, the time limit and signals end the run.
    void watch(const MonitorOptions& options);
    // Counted by the live line and the watchdog.
    [[nodiscard]] measure::ProgressSlot& progress() noexcept { return node_.own_slot(); }
    void begin(const std::string& phase, std::int64_t bytes_of_node);
    void end();
    void unwatch();

private:
    void gather_hosts();

    Janitor janitor_;
    MpiLifetime mpi_;
    NodeRanks node_;
    std::int32_t rank_ = 0;
    std::int32_t ranks_ = 1;
    // On rank 0 the hosts of all ranks, elsewhere this rank's only.
    std::vector<std::string> hosts_;
    std::vector<std::int32_t> node_of_;  // on rank 0: the node of each rank
    std::unique_ptr<measure::Monitor> monitor_;
};

// Marks that a rank is inside calls that must end by themselves, for the watchdog. A wait for other
// ranks is not such a call, because they may be at work.
class WorkInProgress {
public:
    explicit WorkInProgress(measure::ProgressSlot& slot) : slot_(slot) { again(); }
    ~WorkInProgress() { rest(); }
    void rest() {
        slot_.calls.fetch_add(1);
        slot_.working.store(0);
    }
    void again() { slot_.working.store(1); }
    WorkInProgress(const WorkInProgress&) = delete;
    WorkInProgress& operator=(const WorkInProgress&) = delete;
    WorkInProgress(WorkInProgress&&) = delete;
    WorkInProgress& operator=(WorkInProgress&&) = delete;

private:
    measure::ProgressSlot& slot_;
};

// "2026-11-21T14:00:00Z"
[[nodiscard]] std::string utc_now();
// "Sat Nov 21 04:00:58 2026", in local time.
[[nodiscard]] std::string time_of_day();
// This process's peak memory (resident set).
[[nodiscard]] std::int64_t peak_memory_bytes();
// Free bytes on the file system of the directory; nullopt: unknown.
[[nodiscard]] std::optional<std::int64_t> free_bytes(const std::string& directory);

}  // namespace forebay::bench
