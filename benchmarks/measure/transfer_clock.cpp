// Calibrates the time stamp counter against CLOCK_MONOTONIC.
#include "benchmarks/measure/transfer_clock.hpp"

#include <cmath>
#include <fstream>
#include <string>

namespace forebay::measure {

namespace {

constexpr std::int64_t apart_ns_min = 10'000'000;
constexpr int tries = 8;

std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

}  // namespace

bool reads_ticks(const char* clocksource_file) {
#if defined(__x86_64__)
    std::ifstream file(clocksource_file);
    std::string name;
    return file >> name && name == "tsc";
#else
    static_cast<void>(clocksource_file);
    return false;
#endif
}

// The reading, of several, with the shortest interval between its two counter values: the one least
// disturbed by interrupts.
TickReading TransferClock::reading() noexcept {
    TickReading best;
    std::uint64_t narrowest = ~std::uint64_t{0};
    for (int i = 0; i < tries; ++i) {
        const std::uint64_t before = ticks();
        const std::int64_t ns = measure::now_ns();
        const std::uint64_t width = ticks() - before;
        if (width < narrowest) {
            narrowest = width;
            best = {before + width / 2, ns};
        }
    }
    return best;
}

TransferClock::TransferClock(const TickReading& then, bool by_ticks) {
    if (!by_ticks) {
        return;
    }
    if (const std::int64_t rest = then.ns + apart_ns_min - measure::now_ns(); rest > 0) {
        const timespec wait{0, rest};
        ::clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
    }
    begin_ = reading();
    if (begin_.ticks > then.ticks) {
        rate_ = static_cast<std::uint64_t>(
            std::llround(std::ldexp(static_cast<double>(begin_.ns - then.ns) /
                                        static_cast<double>(begin_.ticks - then.ticks),
                                    32)));
    }
}

}  // namespace forebay::measure
