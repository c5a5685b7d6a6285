// All of it follows from plan::bypasses, by which plans choose, too.
#include "collective/plan/bypass.hpp"

namespace forebay::plan {

bool may_bypass(const Summary& mine, const FileStripes& layout, const NodeTopology& topology,
                const Tuning& tuning, IoDirection direction) {
    return mine.bytes > 0 && bypasses(mine, layout, topology, tuning, direction);
}

bool may_move_first(const AgreementVote& all, const FileStripes& layout,
                    const NodeTopology& topology, const Tuning& tuning, IoDirection direction,
                    HandleAccess handle) {
    const bool writes = direction == IoDirection::write;
    const bool in_order = writes ? all.view_has_holes == 0 : handle == HandleAccess::only_reads;
    return all.cannot_bypass == 0 && in_order &&
           bypasses(merge(all.summary, all.direct), layout, topology, tuning, direction);
}

std::int32_t bypassing_in_flight(const FileStripes& layout, const Tuning& tuning,
                                 IoDirection direction) noexcept {
    const bool striped = completed(layout).stripe_bytes > 0;
    if (direction == IoDirection::read && !striped) {
        return unlimited_requests_in_flight;
    }
    return tuning.finds_limit() ? first_requests_in_flight : tuning.requests_in_flight;
}

}  // namespace forebay::plan
