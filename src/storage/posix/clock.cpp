// CLOCK_MONOTONIC is comparable between the processes of one node.
#include "storage/posix/clock.hpp"

#include "foundation/base/times.hpp"
#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>
#include <unistd.h>

namespace forebay::adapters {

std::int64_t SteadyClock::now_ns() const noexcept { return time_ns_of(CLOCK_MONOTONIC); }

std::int64_t CalendarClock::now_ns() const noexcept { return time_ns_of(CLOCK_REALTIME); }

std::int64_t FileTicks::last_tick_ns() const noexcept { return time_ns_of(CLOCK_REALTIME_COARSE); }

std::int64_t FileTicks::tick_ns() const noexcept {
    timespec length{};
    ::clock_getres(CLOCK_REALTIME_COARSE, &length);
    return nanoseconds_of(length);
}

std::int64_t ProcessorTime::now_ns() const noexcept { return time_ns_of(CLOCK_PROCESS_CPUTIME_ID); }

std::optional<std::int64_t> start_ticks_in(std::string_view stat) {
    constexpr int fields_between = 20;  // proc(5): the second field is the name, the 22nd the start
    const std::size_t name_end = stat.rfind(')');  // the name itself may have spaces and brackets
    if (name_end == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view rest = stat.substr(name_end + 1);
    for (int field = 0; field < fields_between; ++field) {
        const std::size_t space = rest.find(' ');
        if (space == std::string_view::npos) {
            return std::nullopt;
        }
        rest.remove_prefix(space + 1);
    }
    std::int64_t ticks = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), ticks);
    return parsed.ec == std::errc{} ? std::optional(ticks) : std::nullopt;
}

std::optional<std::int64_t> process_age_ns() {
    const auto stat = kernel::contents("/proc/self/stat");
    const auto start = stat ? start_ticks_in(*stat) : std::nullopt;
    const std::int64_t ticks_per_second = ::sysconf(_SC_CLK_TCK);
    if (!start || ticks_per_second <= 0) {
        return std::nullopt;
    }
    const std::int64_t since_boot = *start / ticks_per_second * second_ns +
                                    *start % ticks_per_second * (second_ns / ticks_per_second);
    return std::max<std::int64_t>(time_ns_of(CLOCK_BOOTTIME) - since_boot, 0);
}

}  // namespace forebay::adapters
