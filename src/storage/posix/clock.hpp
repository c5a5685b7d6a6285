// The port TimeSource over the kernel's clocks.
#pragma once

#include "foundation/ports/clock.hpp"

#include <optional>
#include <string_view>

namespace forebay::adapters {

class SteadyClock final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
};

// CLOCK_REALTIME, the clock of file times; it may go back when the system's time is set.
class CalendarClock final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
};

// CLOCK_REALTIME_COARSE, by which the kernel sets the times of files that it changes.
class FileTicks final : public ports::TickSource {
public:
    [[nodiscard]] std::int64_t last_tick_ns() const noexcept override;
    [[nodiscard]] std::int64_t tick_ns() const noexcept override;
};

// CLOCK_PROCESS_CPUTIME_ID: the CPU time of all threads of this process.
class ProcessorTime final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
};

// Nanoseconds since this process was started, to the kernel's hundredth of a second; nothing where
// /proc is not mounted. A program that was started by exec is as old as the process is.
[[nodiscard]] std::optional<std::int64_t> process_age_ns();

// The time of a process's start in ticks after the boot, from the text of its /proc/PID/stat;
// nothing if the text is no such file's.
[[nodiscard]] std::optional<std::int64_t> start_ticks_in(std::string_view stat);

}  // namespace forebay::adapters
