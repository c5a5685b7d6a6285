// A rank's writes of consecutive bytes to the file system by itself, several requests at a time.
#pragma once

#include "foundation/base/stripes.hpp"
#include "foundation/base/units.hpp"
#include "worlds/simgrid/world.hpp"

#include <cstdint>

namespace forebay::sim {

struct DirectWriting {
    FileStripes stripes;
    std::int32_t in_flight = 8;  // requests at one target
    std::int64_t request_bytes_max = 1 << 20;
};

// Writes `what`, whose data does not exist, and waits until all of it is at the targets. Returns
// the number of requests.
std::int64_t write_directly(ports::FileStorage& storage, const ports::TimeSource& clock,
                            const DirectWriting& how, const Extent& what);

// The stripes of a file that was made with `stripe_count` (0: all targets) on the platform.
[[nodiscard]] FileStripes stripes_on(const adapters::MachinePlatform& platform,
                                     std::int32_t stripe_count) noexcept;

}  // namespace forebay::sim
