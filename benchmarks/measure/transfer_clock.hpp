// A clock for a loop that times every transfer. Where the kernel itself keeps time by the
// processor's time stamp counter, this reads the counter: 9 ns instead of clock_gettime's 21
// (AMD EPYC). Elsewhere it is CLOCK_MONOTONIC.
#pragma once

#include "benchmarks/measure/clock.hpp"

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace forebay::measure {

// A value of the counter, and the time of CLOCK_MONOTONIC at that moment.
struct TickReading {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
};

// Whether a clocksource of this name ("tsc", "kvm-clock", "hpet") is the counter; the kernel takes
// it only where it is the same on all cores and runs at one rate.
[[nodiscard]] bool reads_ticks(const char* clocksource_file =
                                   "/sys/devices/system/clocksource/clocksource0/"
                                   "current_clocksource");

// Its readings are comparable with one another, not with other clocks', and only within a process.
class TransferClock {
public:
    // The counter's rate is what CLOCK_MONOTONIC said between `then` and now, at least 10 ms: the
    // rest of these is waited for. An error of 60 ns in 10 ms is one of 6e-6 in every duration.
    explicit TransferClock(const TickReading& then, bool by_ticks = reads_ticks());

    [[nodiscard]] static TickReading reading() noexcept;

    [[nodiscard]] std::int64_t now_ns() const noexcept {
#if defined(__x86_64__)
        if (rate_ != 0) [[likely]] {
            const auto passed = static_cast<Wide>(__rdtsc() - begin_.ticks);
            return begin_.ns + static_cast<std::int64_t>((passed * rate_) >> 32U);
        }
#endif
        return measure::now_ns();
    }

private:
    __extension__ using Wide = unsigned __int128;

    TickReading begin_;
    std::uint64_t rate_ = 0;  // nanoseconds a tick, times 2^32; 0: CLOCK_MONOTONIC
};

}  // namespace forebay::measure
