// As a program's own writes, through the channel that the pool drains by.
#include "worlds/simulate/direct_writes.hpp"

#include "pool/core/flush/request_cutter.hpp"
#include "storage/transfer/channel.hpp"
#include "worlds/simulate/imagined_bytes.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace forebay::sim {

std::int64_t write_directly(ports::FileStorage& storage, const ports::TimeSource& clock,
                            const DirectWriting& how, const Extent& what) {
    transfer::FixedGate gate{how.stripes.targets, how.in_flight};
    transfer::Channel channel{storage, gate, clock, transfer::ChannelOptions{}};
    channel.begin(0, std::make_unique<pool::RequestCutter>(
                         std::vector<ports::Piece>{{what.begin, imagined_bytes(what.length)}},
                         how.stripes, how.request_bytes_max));
    while (!channel.finished(0)) {
        if (!channel.run_once()) {
            channel.block();
        }
    }
    return channel.requests();
}

FileStripes stripes_on(const adapters::MachinePlatform& platform,
                       std::int32_t stripe_count) noexcept {
    const auto targets = static_cast<std::int32_t>(platform.target.count);
    return {stripe_count == 0 ? targets : std::min(stripe_count, targets), platform.stripe_bytes};
}

}  // namespace forebay::sim
