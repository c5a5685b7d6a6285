// Both orders follow from the plan and the summaries of nodes; no message is needed to agree on
// them.
#include "collective/engine/steps.hpp"

#include <algorithm>
#include <tuple>

namespace forebay::engine {

std::optional<OutwardSteps::Step> OutwardSteps::next(plan::Window& window) {
    const NodeId here = team_.place().node;
    for (; round_ < rounds_.known(); ++round_, i_ = 0) {
        while (i_ < rounds_.aggregators()) {
            const AggregatorId id = rounds_.visited(here, i_++);
            if (rounds_.aggregator(id).node == here) {
                continue;
            }
            rounds_.window(round_, id, window);
            if (!window.empty() && plan::touches(team_.node_segment().node(here), window.hull())) {
                return Step{round_, id};
            }
        }
    }
    return std::nullopt;
}

std::optional<InwardSteps::Step> InwardSteps::next() {
    while (position_ == of_round_.size()) {
        if (round_ == rounds_.known()) {
            return std::nullopt;
        }
        load(round_++);
    }
    return of_round_[position_++];
}

void InwardSteps::load(std::int64_t round) {
    of_round_.clear();
    position_ = 0;
    const NodeId here = team_.place().node;
    for (std::int32_t a = 0; a < rounds_.aggregators(); ++a) {
        const AggregatorId id{a};
        if (rounds_.aggregator(id).node != here) {
            continue;
        }
        rounds_.window(round, id, window_);
        for (std::int32_t n = 0; !window_.empty() && n < team_.place().nodes; ++n) {
            const NodeId from{n};
            if (from != here && plan::touches(team_.node_segment().node(from), window_.hull())) {
                of_round_.push_back(Step{round, id, from});
            }
        }
    }
    std::sort(of_round_.begin(), of_round_.end(), [this](const Step& a, const Step& b) {
        return std::tuple{rounds_.step_of(a.from, a.id), a.from} <
               std::tuple{rounds_.step_of(b.from, b.id), b.from};
    });
}

}  // namespace forebay::engine
