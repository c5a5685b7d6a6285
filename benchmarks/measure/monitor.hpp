// A thread beside each rank that makes no MPI call: it ends a run that stands still, notices when
// a rank of its node has died, passes a signal to stop on to whoever cleans up, and writes the live
// line. It wakes once a second and touches only shared memory.
#pragma once

#include "benchmarks/measure/progress.hpp"

#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

namespace forebay::measure {

enum class StopCause { stalled, time_over, peer_died, signal };

struct RunStop {
    StopCause cause = StopCause::stalled;
    std::string message;  // problem (why). What to do next.
    int signal = 0;       // where that is the cause
};

// The process's status: 128 and its number for a signal, as a shell says it.
[[nodiscard]] int exit_status(const RunStop& stop) noexcept;

// While it lives, SIGTERM and SIGINT (and the monitor's own signal) wait for a monitor instead of
// ending the process. That is so for the calling thread and the threads that are made meanwhile,
// which keep it: a signal to a process goes to any thread that has not blocked it, so an MPI's
// helper threads have to be made under one of these.
class StopSignalsWait {
public:
    StopSignalsWait() noexcept;
    ~StopSignalsWait();
    StopSignalsWait(const StopSignalsWait&) = delete;
    StopSignalsWait& operator=(const StopSignalsWait&) = delete;
    StopSignalsWait(StopSignalsWait&&) = delete;
    StopSignalsWait& operator=(StopSignalsWait&&) = delete;

private:
    sigset_t before_;
};

class Monitor {
public:
    struct Options {
        std::span<ProgressSlot> slots;             // of this node's ranks
        std::size_t own = 0;                       // which of them is this rank's
        std::int64_t first_rank = 0;               // world rank of the first
        std::optional<double> stall_seconds;       // one call may take; unset: for ever
        std::optional<double> limit_seconds;       // the whole run may take
        double spent_seconds = 0;                  // of them, before the monitor was made
        bool live = false;                         // write the live line to standard error
        CountedUnit counted = CountedUnit::bytes;  // for the live line
        // Called once, in the monitor's thread; must not return to a healthy program: it removes
        // files and ends the process.
        std::function<void(const RunStop&)> stop;
    };

    // Takes the signals from the calling thread for as long as it lives, and from no other.
    explicit Monitor(Options options);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;
    Monitor(Monitor&&) = delete;
    Monitor& operator=(Monitor&&) = delete;

    // A phase for the live line; sets the own slot's bytes to 0.
    void begin(std::string phase, std::int64_t bytes_of_node);
    void end();

private:
    void run();
    [[nodiscard]] std::optional<RunStop> tick();
    [[nodiscard]] std::optional<RunStop> stalled(std::int64_t now);
    void write_live_line(std::int64_t now);

    StopSignalsWait signals_wait_;  // to the end of the thread
    Options options_;
    std::mutex mutex_;  // guards the members below it but for thread_
    std::string phase_;
    std::int64_t phase_bytes_ = 0;
    std::int64_t phase_begin_ns_ = 0;
    bool line_shown_ = false;
    bool ending_ = false;
    std::int64_t began_ns_ = 0;
    std::int64_t calls_seen_ = -1;
    std::int64_t calls_seen_ns_ = 0;
    std::thread thread_;
};

// To be called between a rank's last words and MPI_Abort: MPICH's launcher may lose what it has not
// read when ranks end.
void wait_for_readers() noexcept;

}  // namespace forebay::measure
