// A clock for timing every transfer of a loop. If the kernel's clocksource is the processor's time
// stamp counter (TSC), it reads that directly: 9 ns instead of clock_gettime's 21 (AMD EPYC).
// Otherwise it is CLOCK_MONOTONIC.
#pragma once

#include "benchmarks/measure/clock.hpp"

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace forebay::measure {

// A value of the counter, and the CLOCK_MONOTONIC time at that moment.
struct TickReading {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
};

// Whether the clocksource named in the file is the counter. The kernel uses it only if it is
// synchronised between cores and has a constant rate.
[[nodiscard]] bool reads_ticks(const char* clocksource_file =
                                   "/sys/devices/system/clocksource/clocksource0/"
                                   "current_clocksource");

// Readings are comparable with each other in one process only, and not with other clocks.
class TransferClock {
public:
    // Calibrates the counter's rate by CLOCK_MONOTONIC between `then` and now; waits if that is
    // less than 10 ms. An error of 60 ns in 10 ms is a relative error of 6e-6 in every duration.
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
    std::uint64_t rate_ = 0;  // nanoseconds per tick, times 2^32; 0: uses CLOCK_MONOTONIC
};

}  // namespace forebay::measure
