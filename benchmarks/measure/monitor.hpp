// The watchdog thread of each rank, which makes no MPI call: it ends a run that has stalled,
// detects that a rank of its node has died, hands SIGTERM and SIGINT to the clean-up, and prints
// the live line. It wakes once a second and accesses shared memory only.
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
    int signal = 0;       // the signal's number, if that is the cause
};

// The exit status: for a signal 128 plus its number, as in a shell.
[[nodiscard]] int exit_status(const RunStop& stop) noexcept;

// While this object exists, SIGTERM and SIGINT (and the monitor's own signal) are blocked and stay
// pending for a monitor. That holds for the calling thread and for threads created meanwhile, which
// inherit the mask. A signal to the process goes to any thread that has not blocked it, so an MPI's
// helper threads must be created while such an object exists.
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
        std::span<ProgressSlot> slots;        // of all ranks on this node
        std::size_t own = 0;                  // index of this rank's slot
        std::int64_t first_rank = 0;          // world rank of slot 0
        std::optional<double> stall_seconds;  // limit on one call; unset: none
        std::optional<double> limit_seconds;  // limit on the whole run; unset: none
        double spent_seconds = 0;  // part of limit_seconds used before the monitor was created
        bool live = false;         // write the live line to standard error
        CountedUnit counted = CountedUnit::bytes;  // for the live line
        // Called once, in the monitor's thread. Removes files and ends the process; must not return
        // unless the process ends anyway.
        std::function<void(const RunStop&)> stop;
    };

    // Blocks the signals in the calling thread while it exists, and handles them; other threads
    // must have them blocked already.
    explicit Monitor(Options options);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;
    Monitor(Monitor&&) = delete;
    Monitor& operator=(Monitor&&) = delete;

    // Starts a phase on the live line; sets the bytes of this rank's slot to 0.
    void begin(std::string phase, std::int64_t bytes_of_node);
    void end();

private:
    void run();
    [[nodiscard]] std::optional<RunStop> tick();
    [[nodiscard]] std::optional<RunStop> stalled(std::int64_t now);
    void write_live_line(std::int64_t now);

    StopSignalsWait signals_wait_;  // outlives the thread
    Options options_;
    std::mutex mutex_;  // guards the members below, except thread_
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

// To be called between a rank's last message and MPI_Abort: MPICH's launcher may lose output that
// it has not read when ranks end.
void wait_for_readers() noexcept;

}  // namespace forebay::measure
