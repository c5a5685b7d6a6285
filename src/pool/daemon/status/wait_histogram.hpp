// How long clients waited, as a histogram for each kind of wait. A daemon keeps one set for all
// files, so that its counts never fall when the totals of a closed file are dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace forebay::daemon {

// Why a client waited for an answer about a file. `drain`: not for a sync, but to change its times,
// owner, mode or size, or to let it leave the pool.
enum class WaitKind : std::uint8_t { open, sync, drain };

inline constexpr std::array<WaitKind, 3> wait_kinds{WaitKind::open, WaitKind::sync,
                                                    WaitKind::drain};

// The upper bounds of the buckets: 0.1 ms to 100 s, three a decade. A wait that is exactly as long
// as a bound is in the bucket below it, as Prometheus has it (`le`).
inline constexpr std::array<std::int64_t, 19> wait_bounds_ns{
    100'000,        200'000,        500'000,        1'000'000,      2'000'000,
    5'000'000,      10'000'000,     20'000'000,     50'000'000,     100'000'000,
    200'000'000,    500'000'000,    1'000'000'000,  2'000'000'000,  5'000'000'000,
    10'000'000'000, 20'000'000'000, 50'000'000'000, 100'000'000'000};

struct WaitHistogram {
    // The waits in each bucket, not added up over shorter ones; the last has those above all
    // bounds.
    std::array<std::int64_t, wait_bounds_ns.size() + 1> counts{};
    std::int64_t total_ns = 0;

    void add(std::int64_t ns) noexcept;

    friend bool operator==(const WaitHistogram&, const WaitHistogram&) = default;
};

class WaitHistograms {
public:
    void add(WaitKind kind, std::int64_t ns) noexcept {
        histograms_.at(static_cast<std::size_t>(kind)).add(ns);
    }
    [[nodiscard]] const WaitHistogram& of(WaitKind kind) const noexcept {
        return histograms_.at(static_cast<std::size_t>(kind));
    }

private:
    std::array<WaitHistogram, wait_kinds.size()> histograms_{};
};

}  // namespace forebay::daemon
