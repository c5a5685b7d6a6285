// The settings that a plan depends on, as numbers. Names and defaults: schema/settings.toml.
#pragma once

#include <cstdint>

namespace forebay::plan {

enum class Mode { automatic, enable, disable };

struct Tuning {
    std::int32_t aggregators_max = 0;           // cb_nodes; 0: as many as the plan likes
    std::int64_t window_bytes = 4 << 20;        // cb_buffer_size; 0: see `settled`
    std::int32_t buffers = 4;                   // buffers_per_aggregator
    std::int64_t staging_bytes_max = 64 << 20;  // per node
    std::int32_t requests_in_flight = 2;        // k
    std::int64_t request_bytes_max = 4 << 20;   // 0: see `settled`
    std::int64_t write_bytes_max = 4 << 20;     // of requests that write; `settled` sets it
    std::int64_t bypass_bytes_min = 256 << 10;
    Mode write = Mode::automatic;
    Mode read = Mode::automatic;

    bool operator==(const Tuning&) const noexcept = default;
};

// Where a file's bytes lie: stripe number i is on target i mod targets. One target and stripe 0:
// the file system has no stripes (or does not say).
struct Layout {
    std::int32_t targets = 1;
    std::int64_t stripe_bytes = 0;

    bool operator==(const Layout&) const noexcept = default;
};

inline constexpr std::int64_t window_bytes_usual = 4 << 20;
inline constexpr std::int64_t write_bytes_local = 1 << 20;
inline constexpr std::int64_t window_bytes_min = 64 << 10;

// `tuning` with what it leaves open filled in. A local file system copies what is written into its
// page cache; for requests of 1 MiB the kernel needs no large blocks of free memory (decision
// 0010).
[[nodiscard]] constexpr Tuning settled(Tuning tuning, const Layout& layout) noexcept {
    const auto settle = [](std::int64_t asked, std::int64_t otherwise) {
        return asked == 0 ? otherwise : asked < window_bytes_min ? window_bytes_min : asked;
    };
    const bool local = layout.stripe_bytes == 0;
    tuning.write_bytes_max =
        settle(tuning.request_bytes_max, local ? write_bytes_local : window_bytes_usual);
    tuning.window_bytes = settle(tuning.window_bytes, window_bytes_usual);
    tuning.request_bytes_max = settle(tuning.request_bytes_max, window_bytes_usual);
    return tuning;
}

}  // namespace forebay::plan
