// Time as the engine sees it: real, or virtual in a simulation.
#pragma once

#include <cstdint>

namespace forebay::ports {

class TimeSource {
public:
    virtual ~TimeSource() = default;
    // Nanoseconds from some fixed point; never goes back.
    [[nodiscard]] virtual std::int64_t now_ns() const noexcept = 0;
};

}  // namespace forebay::ports
