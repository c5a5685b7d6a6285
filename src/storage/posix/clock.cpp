// CLOCK_MONOTONIC is comparable between the processes of one node.
#include "storage/posix/clock.hpp"

#include <ctime>

namespace forebay::adapters {

namespace {

std::int64_t read(clockid_t clock) noexcept {
    timespec now{};
    ::clock_gettime(clock, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

std::int64_t SteadyClock::now_ns() const noexcept { return read(CLOCK_MONOTONIC); }

std::int64_t CalendarClock::now_ns() const noexcept { return read(CLOCK_REALTIME); }

std::int64_t ProcessorTime::now_ns() const noexcept { return read(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace forebay::adapters
