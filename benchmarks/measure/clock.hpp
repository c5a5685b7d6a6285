// The clock of all durations that a benchmark prints: monotonic, and valid on one node only.
// Readings of two nodes are never subtracted; ranks compare durations since a common barrier.
#pragma once

#include <cstdint>
#include <ctime>

namespace forebay::measure {

[[nodiscard]] inline std::int64_t now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

[[nodiscard]] constexpr double seconds_of(std::int64_t nanoseconds) noexcept {
    return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace forebay::measure
