// Times of the kernel as nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace forebay {

inline constexpr std::int64_t second_ns = 1'000'000'000;

[[nodiscard]] constexpr std::int64_t nanoseconds_of(const timespec& time) noexcept {
    return std::int64_t{time.tv_sec} * second_ns + time.tv_nsec;
}

// The time of a clock (CLOCK_MONOTONIC …). Uses no clock of std::chrono: those are in the C++
// library, and a program that preloads us may have an older one, or none.
[[nodiscard]] inline std::int64_t time_ns_of(clockid_t clock) noexcept {
    timespec now{};
    ::clock_gettime(clock, &now);
    return nanoseconds_of(now);
}

}  // namespace forebay
