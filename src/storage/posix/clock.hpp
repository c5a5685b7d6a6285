// The port TimeSource over the kernel's clocks.
#pragma once

#include "foundation/ports/clock.hpp"

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

// CLOCK_PROCESS_CPUTIME_ID: the CPU time of all threads of this process.
class ProcessorTime final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
};

}  // namespace forebay::adapters
