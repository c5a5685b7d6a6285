// CLOCK_MONOTONIC: comparable between the processes of one node.
#include "adapters/posix/clock.hpp"

#include <ctime>

namespace forebay::adapters {

std::int64_t SteadyClock::now_ns() const noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace forebay::adapters
