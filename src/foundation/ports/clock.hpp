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

}  // namespace forebay::ports
