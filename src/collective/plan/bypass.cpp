// All of it follows from plan::bypasses, which plans themselves go by.
#include "collective/plan/bypass.hpp"

namespace forebay::plan {

bool may_bypass(const Summary& mine, const Stripes& layout, const Topology& topology,
                const Tuning& tuning, Direction direction) {
    return mine.bytes > 0 && bypasses(mine, layout, topology, tuning, direction);
}

bool may_move_first(const AgreementVote& all, const Stripes& layout, const Topology& topology,
                    const Tuning& tuning, Direction direction, Handle handle) {
    const bool writes = direction == Direction::write;
    const bool in_order = writes ? all.view_has_holes == 0 : handle == Handle::only_reads;
    return all.cannot_bypass == 0 && in_order &&
           bypasses(merge(all.summary, all.direct), layout, topology, tuning, direction);
}

std::int32_t bypassing_in_flight(const Stripes& layout, const Tuning& tuning,
                                 Direction direction) noexcept {
    const bool striped = completed(layout).stripe_bytes > 0;
    if (direction == Direction::read && !striped) {
        return unlimited_requests_in_flight;
    }
    return tuning.finds_limit() ? first_requests_in_flight : tuning.requests_in_flight;
}

}  // namespace forebay::plan
