// The real time.
#pragma once

#include "foundation/ports/clock.hpp"

namespace forebay::adapters {

class SteadyClock final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
};

// CLOCK_REALTIME: the time of files. May go back when somebody sets it.
class CalendarClock final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
};

// CLOCK_PROCESS_CPUTIME_ID: what all threads of this process have had of the processors.
class ProcessorTime final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
};

}  // namespace forebay::adapters
