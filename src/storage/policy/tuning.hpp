// The settings that a plan depends on, as numbers. Names and defaults: schema/settings.toml.
#pragma once

#include "foundation/base/direction.hpp"
#include "foundation/base/stripes.hpp"

#include <algorithm>
#include <cstdint>

namespace forebay::plan {

enum class SwitchMode { automatic, enable, disable };

// How the exchange of a round follows the writing of the round before.
enum class ExchangeOrder {
    overlapped,  // as far ahead as there are buffers
    all,         // every rank begins a round when all aggregators have written the last one
    stepwise,    // a rank turns to aggregators in the order in which these have their turns
};

// The part of a file that an aggregator is responsible for.
enum class DomainDivision {
    by_stripes,  // the stripes of its targets
    even,  // an equal part of the span, wherever stripes end (two-phase I/O as first published)
};

// Where aggregators are.
enum class AggregatorPlacement {
    spread,    // evenly over nodes
    in_order,  // in the order of ranks, as many on a node as it may have
};

// How others decide, so that Forebay can be compared with them. Only the simulator sets this: no
// setting does, and no program's file is planned so.
struct SimulatedOnly {
    DomainDivision domains = DomainDivision::by_stripes;  // even: neither turns nor claims
    AggregatorPlacement placement = AggregatorPlacement::spread;

    bool operator==(const SimulatedOnly&) const noexcept = default;
};

constexpr std::int32_t find_requests_in_flight = 0;
constexpr std::int32_t unlimited_requests_in_flight = 4096;
// Where finding k begins: what EARTH found best.
constexpr std::int32_t first_requests_in_flight = 2;

struct Tuning {
    std::int32_t aggregators_max = 0;           // cb_nodes; 0: as many as the plan likes
    std::int64_t window_bytes = 4 << 20;        // cb_buffer_size
    std::int32_t buffers = 4;                   // buffers_per_aggregator
    std::int64_t staging_bytes_max = 64 << 20;  // per node
    std::int32_t aggregators_per_target = 1;    // they share the target's gate by turns
    ExchangeOrder exchange = ExchangeOrder::overlapped;
    std::int32_t requests_in_flight = 2;  // k; or one of the two names above
    std::int64_t request_bytes_max = 4 << 20;
    std::int64_t local_write_bytes_max = 1 << 20;
    // Bytes of a written window that storage lends at a time (foundation/ports/lending.hpp); 0:
    // any.
    std::int64_t lent_bytes_max = 0;
    std::int64_t bypass_bytes_min = 256 << 10;
    SwitchMode write = SwitchMode::automatic;
    SwitchMode read = SwitchMode::automatic;
    SimulatedOnly simulated_only;

    // k is not given, but found while running.
    [[nodiscard]] constexpr bool finds_limit() const noexcept {
        return requests_in_flight == find_requests_in_flight;
    }
    bool operator==(const Tuning&) const noexcept = default;
};

// `bytes` of a window or a request in a direction. A file system without stripes is a local one,
// which copies what is written into its page cache; there small writes stay in the processor's
// cache and need no large blocks of free memory (decision 0010).
[[nodiscard]] constexpr std::int64_t bounded(std::int64_t bytes, const Tuning& tuning,
                                             const FileStripes& layout,
                                             IoDirection direction) noexcept {
    const bool local_write = direction == IoDirection::write && layout.stripe_bytes == 0;
    return local_write ? std::min(bytes, tuning.local_write_bytes_max) : bytes;
}
[[nodiscard]] constexpr std::int64_t request_bytes_max(const Tuning& tuning,
                                                       const FileStripes& layout,
                                                       IoDirection direction) noexcept {
    return bounded(tuning.request_bytes_max, tuning, layout, direction);
}
[[nodiscard]] constexpr std::int64_t window_bytes(const Tuning& tuning, const FileStripes& layout,
                                                  IoDirection direction) noexcept {
    const bool lent = direction == IoDirection::write && tuning.lent_bytes_max > 0;
    return bounded(
        lent ? std::min(tuning.window_bytes, tuning.lent_bytes_max) : tuning.window_bytes, tuning,
        layout, direction);
}

}  // namespace forebay::plan
