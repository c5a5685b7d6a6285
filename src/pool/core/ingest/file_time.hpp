// The time that a write gives its file (st_mtime).
#pragma once

#include "pool/core/ports.hpp"

#include <cstdint>

namespace forebay::pool {

// The clocks at one moment, in nanoseconds.
struct FileTimes {
    std::int64_t clock_ns = 0;      // CLOCK_MONOTONIC, as in log entries
    std::int64_t calendar_ns = 0;   // CLOCK_REALTIME
    std::int64_t last_tick_ns = 0;  // of the kernel's clock of file times, in calendar time
    std::int64_t tick_ns = 0;       // 0: file times have no ticks

    // The time that the kernel would have given the file for a change at `time_ns` of the clock:
    // the last tick before. A later time in finer steps would make the file look newer than others
    // that the kernel changes after it, which `make` takes for a reason to build again.
    [[nodiscard]] constexpr std::int64_t of_change_at(std::int64_t time_ns) const noexcept {
        const std::int64_t fine = calendar_ns - (clock_ns - time_ns);
        if (tick_ns <= 0) {
            return fine;
        }
        if (fine >= last_tick_ns) {
            return last_tick_ns;
        }
        const std::int64_t ticks_ago = (last_tick_ns - fine + tick_ns - 1) / tick_ns;
        return last_tick_ns - ticks_ago * tick_ns;
    }
    [[nodiscard]] constexpr std::int64_t now() const noexcept { return of_change_at(clock_ns); }
};

[[nodiscard]] inline FileTimes file_times_now(const PoolPorts& ports) noexcept {
    const bool has_ticks = ports.file_ticks != nullptr;
    return {.clock_ns = ports.clock.now_ns(),
            .calendar_ns = ports.calendar.now_ns(),
            .last_tick_ns = has_ticks ? ports.file_ticks->last_tick_ns() : 0,
            .tick_ns = has_ticks ? ports.file_ticks->tick_ns() : 0};
}

}  // namespace forebay::pool
