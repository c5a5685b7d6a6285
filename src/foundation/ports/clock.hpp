// Port to the clock: real time, or virtual time in a simulation.
#pragma once

#include <cstdint>

namespace forebay::ports {

class TimeSource {
public:
    virtual ~TimeSource() = default;
    // Nanoseconds since some fixed point; monotonic, unless the implementation says otherwise.
    [[nodiscard]] virtual std::int64_t now_ns() const noexcept = 0;
};

// A clock that goes on by ticks, as that of the times of files.
class TickSource {
public:
    virtual ~TickSource() = default;
    // The time of the last tick, in nanoseconds since the same point as the TimeSource beside it.
    [[nodiscard]] virtual std::int64_t last_tick_ns() const noexcept = 0;
    [[nodiscard]] virtual std::int64_t tick_ns() const noexcept = 0;
};

}  // namespace forebay::ports
