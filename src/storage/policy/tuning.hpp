// The settings that plans and draining depend on, as numbers. Names and defaults:
// schema/settings.toml.
#pragma once

#include "foundation/base/direction.hpp"
#include "foundation/base/stripes.hpp"

#include <algorithm>
#include <cstdint>

namespace forebay::plan {

enum class SwitchMode { automatic, enable, disable };

// How the exchange of a round depends on the writing of the round before.
enum class ExchangeOrder {
    overlapped,  // runs ahead as far as there are buffers
    all,         // a barrier: a round starts when all aggregators have written the last one
    stepwise,    // a rank serves aggregators in the order of their turns at the targets
};

// How the file is divided into the file domains of the aggregators.
enum class DomainDivision {
    by_stripes,  // the stripes of its targets
    even,  // equal parts of the span, regardless of stripe boundaries (original two-phase I/O)
};

// Which ranks become aggregators.
enum class AggregatorPlacement {
    spread,    // evenly over nodes
    in_order,  // in rank order, as many on a node as it may have
};

// The policies of other implementations, for comparison in the simulator. No setting gives them: no
// program's file is planned so.
struct SimulatedOnly {
    // With `even` there are neither turns nor claims.
    DomainDivision domains = DomainDivision::by_stripes;
    AggregatorPlacement placement = AggregatorPlacement::spread;

    bool operator==(const SimulatedOnly&) const noexcept = default;
};

constexpr std::int32_t find_requests_in_flight = 0;
constexpr std::int32_t unlimited_requests_in_flight = 4096;
// Where the search for k starts: the best value in EARTH.
constexpr std::int32_t first_requests_in_flight = 2;

struct Tuning {
    std::int32_t aggregators_max = 0;           // cb_nodes; 0: decided by the plan
    std::int64_t window_bytes = 4 << 20;        // cb_buffer_size
    std::int32_t buffers = 4;                   // buffers_per_aggregator
    std::int64_t staging_bytes_max = 64 << 20;  // per node
    std::int32_t aggregators_per_target = 1;    // they share the target's gate by turns
    ExchangeOrder exchange = ExchangeOrder::overlapped;
    std::int32_t requests_in_flight = 2;  // k, or one of the two constants above
    std::int64_t request_bytes_max = 4 << 20;
    std::int64_t local_write_bytes_max = 1 << 20;
    // The largest window that storage can lend (foundation/ports/lending.hpp); 0: no limit.
    std::int64_t lent_bytes_max = 0;
    std::int64_t bypass_bytes_min = 256 << 10;
    SwitchMode write = SwitchMode::automatic;
    SwitchMode read = SwitchMode::automatic;
    SimulatedOnly simulated_only;

    // Whether k is found while running instead of given.
    [[nodiscard]] constexpr bool finds_limit() const noexcept {
        return requests_in_flight == find_requests_in_flight;
    }
    bool operator==(const Tuning&) const noexcept = default;
};

// Bounds the bytes of a window or a request. A file system without stripes is a local one, whose
// writes are copied into the page cache: small ones stay in the processor's cache there, and need
// no large free blocks of memory (decision 0010).
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
