// How to wait for what another process or thread does at once. A sleeper on an idle core takes
// longer to wake than most answers take to come, so the core is given up and taken back a few times
// first (decision 0009). Where a program computes on every core, it is the other way round: a
// sleeper is woken at once, and a thread that gives the core up has it back a time slice later (4
// ms). After losing one, a thread therefore sleeps at once for a while (decision 0032).
#pragma once

#include "foundation/base/atomics.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <sched.h>

namespace forebay {

class CoreYielding {
public:
    // Nobody who does a few instructions keeps the core so long.
    static constexpr std::int64_t lost_ns = 500'000;
    // How long nobody yields after that: twice as long each time, until a number of yields went
    // well.
    static constexpr std::int64_t sleeps_ns_min = 10'000'000;
    static constexpr std::int64_t sleeps_ns_max = 1'000'000'000;
    static constexpr std::uint32_t went_well_min = 100;

    // False: it is better to sleep.
    [[nodiscard]] bool pays() const noexcept { return pays_at(now_ns()); }
    // Gives the core up, until everybody else who waits for it has had it.
    void yield() noexcept {
        const std::int64_t begin = now_ns();
        ::sched_yield();
        was_away(begin, now_ns());
    }

    [[nodiscard]] bool pays_at(std::int64_t now_ns) const noexcept {
        return now_ns >= not_before_.load(relaxed);
    }
    void was_away(std::int64_t from_ns, std::int64_t to_ns) noexcept {
        if (to_ns - from_ns > lost_ns) {
            const std::int64_t sleeps = sleeps_ns_.load(relaxed);
            not_before_.store(to_ns + sleeps, relaxed);
            sleeps_ns_.store(std::min(2 * sleeps, sleeps_ns_max), relaxed);
            went_well_.store(0, relaxed);
        } else if (went_well_.fetch_add(1, relaxed) == went_well_min) {
            sleeps_ns_.store(sleeps_ns_min, relaxed);
        }
    }

private:
    // Not by std::chrono, whose clocks are in the C++ library: programs that preload us may have an
    // older one, or none.
    [[nodiscard]] static std::int64_t now_ns() noexcept {
        constexpr std::int64_t second = 1'000'000'000;
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * second + now.tv_nsec;
    }

    std::atomic<std::int64_t> not_before_{0};
    std::atomic<std::int64_t> sleeps_ns_{sleeps_ns_min};
    std::atomic<std::uint32_t> went_well_{0};  // since one did not
};

}  // namespace forebay
