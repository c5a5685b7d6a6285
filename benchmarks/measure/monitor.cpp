// The monitor's thread: watchdog, signals and the live line.
#include "benchmarks/measure/monitor.hpp"

#include "benchmarks/measure/clock.hpp"
#include "benchmarks/measure/exit_status.hpp"
#include "foundation/base/contracts.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace forebay::measure {

namespace {

sigset_t stop_signals() noexcept {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR2);  // the monitor's own signal, which wakes it to end
    return set;
}

}  // namespace

StopSignalsWait::StopSignalsWait() noexcept : before_{} {
    const sigset_t set = stop_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

StopSignalsWait::~StopSignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int exit_status(const RunStop& stop) noexcept {
    constexpr int signals_begin = 128;
    switch (stop.cause) {
        case StopCause::signal: return signals_begin + stop.signal;
        case StopCause::peer_died: return code(ExitStatus::input_output);
        default: return code(ExitStatus::time_limit);
    }
}

Monitor::Monitor(Options options) : options_(std::move(options)), began_ns_(now_ns()) {
    expects(options_.own < options_.slots.size(), "the own slot is one of the slots");
    options_.slots[options_.own].process.store(::getpid());
    thread_ = std::thread([this] { run(); });
}

Monitor::~Monitor() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    options_.slots[options_.own].process.store(0);
    ::pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
}

void Monitor::begin(std::string phase, std::int64_t bytes_of_node) {
    const std::lock_guard lock(mutex_);
    phase_ = std::move(phase);
    phase_bytes_ = bytes_of_node;
    phase_begin_ns_ = now_ns();
    options_.slots[options_.own].bytes.store(0, std::memory_order_relaxed);
}

void Monitor::end() {
    const std::lock_guard lock(mutex_);
    phase_.clear();
    if (line_shown_) {
        std::fputs("\r\x1b[K", stderr);
        line_shown_ = false;
    }
}

void Monitor::run() {
    const sigset_t set = stop_signals();
    for (;;) {
        const timespec wait{1, 0};
        const int signal = ::sigtimedwait(&set, nullptr, &wait);
        {
            const std::lock_guard lock(mutex_);
            if (ending_) {
                return;
            }
        }
        std::optional<RunStop> stop;
        if (signal == SIGTERM || signal == SIGINT) {
            stop = RunStop{
                StopCause::signal,
                fmt::format("the run was ended by a signal ({}). What it would have removed "
                            "at its end is removed; start it again.",
                            signal == SIGTERM ? "SIGTERM" : "SIGINT"),
                signal};
        } else {
            stop = tick();
        }
        if (stop) {
            options_.stop(*stop);
            return;
        }
    }
}

std::optional<RunStop> Monitor::stalled(std::int64_t now) {
    const ProgressSlot& own = options_.slots[options_.own];
    const std::int64_t calls = own.calls.load(std::memory_order_relaxed);
    if (own.working.load(std::memory_order_relaxed) == 0 || calls != calls_seen_) {
        calls_seen_ = calls;
        calls_seen_ns_ = now;
        return std::nullopt;
    }
    const double waited = seconds_of(now - calls_seen_ns_);
    if (!options_.stall_seconds || waited < *options_.stall_seconds) {
        return std::nullopt;
    }
    const std::string phase = phase_.empty() ? std::string("the run") : phase_;
    return RunStop{
        StopCause::stalled,
        fmt::format("{} stands still on rank {} (one call has not returned for {:.0f} s). "
                    "Look at the file system, or allow more with --stall-limit.",
                    phase, options_.first_rank + static_cast<std::int64_t>(options_.own), waited)};
}

std::optional<RunStop> Monitor::tick() {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = now_ns();
    // Two ranks of each node watch for dead peers; more would only report the same.
    const std::size_t watched = options_.own <= 1 ? options_.slots.size() : 0;
    for (std::size_t i = 0; i < watched; ++i) {
        const std::int32_t process = options_.slots[i].process.load();
        if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) {
            return RunStop{StopCause::peer_died,
                           fmt::format("rank {} has ended without a word (it was killed or has "
                                       "crashed). See what the launcher and the kernel's log say.",
                                       options_.first_rank + static_cast<std::int64_t>(i))};
        }
    }
    const double spent = options_.spent_seconds + seconds_of(now - began_ns_);
    if (options_.limit_seconds && spent > *options_.limit_seconds) {
        return RunStop{StopCause::time_over,
                       fmt::format("the run is ended (its {:.0f} s are over). Make it shorter, or "
                                   "allow more with --budget-time.",
                                   *options_.limit_seconds)};
    }
    if (auto stop = stalled(now)) {
        return stop;
    }
    write_live_line(now);
    return std::nullopt;
}

void Monitor::write_live_line(std::int64_t now) {
    if (!options_.live || phase_.empty()) {
        return;
    }
    const PhaseText text{phase_, phase_bytes_, seconds_of(now - phase_begin_ns_),
                         options_.first_rank, options_.counted};
    const std::string line =
        fmt::format("\r{}\x1b[K", live_line(text, progress_of(options_.slots)));
    std::fputs(line.c_str(), stderr);
    line_shown_ = true;
}

void wait_for_readers() noexcept {
    constexpr timespec moment{0, 200'000'000};
    ::nanosleep(&moment, nullptr);
}

}  // namespace forebay::measure
