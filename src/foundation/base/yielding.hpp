// Whether a thread that waits for another one should yield its core or sleep on a futex. Waking a
// sleeper on an idle core takes longer than most answers, so the waiter first yields a few times
// (decision 0009). If the program computes on every core, it is the other way round: a sleeper is
// woken at once, while a thread that yields gets its core back only a time slice (4 ms) later.
// After a yield that took so long, threads therefore sleep at once for a while (decision 0032).
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
    // A yield that took longer than this lost the core: another thread computed meanwhile, rather
    // than doing the few instructions of a waiter.
    static constexpr std::int64_t lost_ns = 500'000;
    // How long no thread yields after a lost core: doubled each time (exponential backoff), and
    // back to the minimum after `went_well_min` yields that kept the core.
    static constexpr std::int64_t sleeps_ns_min = 10'000'000;
    static constexpr std::int64_t sleeps_ns_max = 1'000'000'000;
    static constexpr std::uint32_t went_well_min = 100;

    // False: sleep instead of yielding.
    [[nodiscard]] bool pays() const noexcept { return pays_at(now_ns()); }
    // Yields the core; returns when the scheduler gives it back.
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
    // Uses no clock of std::chrono: those are in the C++ library, and a program that preloads us
    // may have an older one, or none.
    [[nodiscard]] static std::int64_t now_ns() noexcept {
        constexpr std::int64_t second = 1'000'000'000;
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * second + now.tv_nsec;
    }

    std::atomic<std::int64_t> not_before_{0};
    std::atomic<std::int64_t> sleeps_ns_{sleeps_ns_min};
    std::atomic<std::uint32_t> went_well_{0};  // yields that kept the core since the last lost one
};

}  // namespace forebay
