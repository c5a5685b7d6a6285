// A benchmark's ranks: who is where, agreement on errors, one record from all of them, and the
// monitor that ends what stands still.
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
    std::vector<double> ranks;  // of each, in order
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

// MPI's life in a program.
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
    // MPI_Init. One a process, and before any thread: it begins the node's janitor.
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

    // Collective over `ranks`: the error of the lowest rank that has one, on all of them; its
    // message names the rank.
    Result<void> agreed(const Result<void>& mine, MPI_Comm ranks = MPI_COMM_WORLD) const;
    // Collective: what rank 0 says.
    [[nodiscard]] std::string told(std::string text) const;
    // Collective: of each rank of the world, the lowest rank of its node.
    [[nodiscard]] std::vector<std::int32_t> nodes_of_all() const;
    void barrier(MPI_Comm ranks = MPI_COMM_WORLD) const;
    // A barrier of the world that sleeps: ranks that only wait leave the cores to those that work.
    void quiet_barrier() const;

    // Collective over the first ranks of the world; the results count on rank 0.
    [[nodiscard]] measure::LatencyHistogram merged(const measure::LatencyHistogram& mine,
                                                   MPI_Comm ranks) const;
    [[nodiscard]] RankSpread spread(double mine, MPI_Comm ranks) const;
    [[nodiscard]] std::int64_t sum(std::int64_t mine, MPI_Comm ranks = MPI_COMM_WORLD) const;
    [[nodiscard]] double most(double mine, MPI_Comm ranks = MPI_COMM_WORLD) const;
    // Seconds by which this rank began after the first of its node where ranks share cores, which
    // leave a barrier one after the other; else 0, that no moment of the scheduler's counts.
    [[nodiscard]] double late(std::int64_t began_ns, MPI_Comm ranks = MPI_COMM_WORLD) const;
    [[nodiscard]] double least(double mine, MPI_Comm ranks = MPI_COMM_WORLD) const;
    // The words of all ranks that are not empty, at most `most` of them.
    [[nodiscard]] std::vector<std::string> gathered(const std::vector<std::string>& mine,
                                                    std::size_t most) const;

    // "12 ranks share 4 cores …" where that is so.
    [[nodiscard]] std::optional<std::string> oversubscribed() const;
    [[nodiscard]] std::string mpi_version() const;

    // Collective. From here on a stall, a dead peer, the time limit and signals end the run.
    void watch(const MonitorOptions& options);
    // For the live line and the watchdog.
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
    std::vector<std::string> hosts_;     // on rank 0 of each rank, else the own one
    std::vector<std::int32_t> node_of_;  // on rank 0, of each rank
    std::unique_ptr<measure::Monitor> monitor_;
};

// While a rank is inside calls that must end by themselves. Waiting for other ranks is not among
// them: these may be at work.
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
// "Sat Nov 21 04:00:58 2026", of the place where it runs.
[[nodiscard]] std::string time_of_day();
// The most memory that this process has had at a time.
[[nodiscard]] std::int64_t peak_memory_bytes();
// Free bytes of the file system that the directory is on; nullopt: not known.
[[nodiscard]] std::optional<std::int64_t> free_bytes(const std::string& directory);

}  // namespace forebay::bench
