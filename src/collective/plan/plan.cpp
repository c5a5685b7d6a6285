// How a plan is made: aggregators are placed by target and node, exchange or bypass is chosen, and
// the windows get a size that fits into staging.
#include "collective/plan/plan.hpp"

#include <algorithm>
#include <bit>

namespace forebay::plan {

namespace {

// If ranks have data in less than one byte in `dense_share` of the span, rounds go by claims:
// visiting windows that are nearly empty would cost more than asking the ranks where their data is.
constexpr std::int64_t dense_share = 16;
constexpr std::int64_t block_bytes_default = 64 << 10;
constexpr std::int64_t window_bytes_min = 64 << 10;  // windows are multiples of this
constexpr std::int64_t stripe_bytes_min = 4096;
constexpr std::int32_t buffers_min = 3;
// The maximum unit of coverage; window_bytes_min is a multiple of it.
constexpr std::int64_t unit_max = 4096;

// The number of aggregators for which all nodes together have room. Every node counts the same, and
// no node gets more than the smallest one has ranks.
std::int64_t places(const NodeTopology& topology) {
    const std::int32_t fewest = *std::min_element(topology.locals.begin(), topology.locals.end());
    return std::int64_t{topology.nodes()} * std::min(topology.aggregators_per_node_max, fewest);
}

std::int32_t aggregator_count(const FileStripes& layout, const NodeTopology& topology,
                              const Tuning& tuning) {
    std::int64_t count = std::min<std::int64_t>(layout.targets, places(topology));
    if (tuning.aggregators_max > 0) {
        count = std::min<std::int64_t>(count, tuning.aggregators_max);
    }
    return static_cast<std::int32_t>(std::max<std::int64_t>(count, 1));
}

// The number of aggregators that share a target, the same for every target. A file without stripes
// has nothing to deal out to several aggregators.
std::int32_t share_count(const FileStripes& layout, const NodeTopology& topology,
                         const Tuning& tuning) {
    if (layout.stripe_bytes == 0) {
        return 1;
    }
    std::int64_t most = places(topology);
    if (tuning.aggregators_max > 0) {
        most = std::min<std::int64_t>(most, tuning.aggregators_max);
    }
    const std::int64_t shares =
        std::min<std::int64_t>(tuning.aggregators_per_target, most / layout.targets);
    return static_cast<std::int32_t>(std::max<std::int64_t>(shares, 1));
}

// Whether all pieces begin and end at stripe boundaries.
bool aligned(const Summary& all, const FileStripes& layout) noexcept {
    return layout.stripe_bytes == 0 || all.granularity % layout.stripe_bytes == 0;
}

// Bytes of staging for one window and its coverage bitmap, which has one bit per `granularity`
// bytes.
std::int64_t staged_bytes(std::int64_t window, std::int64_t granularity) noexcept {
    return window + window / (8 * granularity) + 64;
}

// The unit of coverage: a power of two that divides every piece and the stripe size. So no unit
// straddles the end of a piece, a stripe or a window (windows begin at multiples of their size).
std::int64_t common_granularity(const Summary& all, const FileStripes& layout) noexcept {
    const std::int64_t stripe_unit = layout.stripe_bytes & -layout.stripe_bytes;
    const std::int64_t unit = std::min(all.granularity, unit_max);
    return stripe_unit == 0 ? unit : std::min(unit, stripe_unit);
}

// `window` rounded down to a multiple of window_bytes_min, but at least that.
std::int64_t whole_units(std::int64_t window) noexcept {
    return std::max(window / window_bytes_min, std::int64_t{1}) * window_bytes_min;
}

// Bytes of staging that the plan needs on a node: the buffers of its aggregators and, with several
// nodes, images and message buffers.
std::int64_t staged_on_a_node(const Plan& plan, const NodeTopology& topology) noexcept {
    const std::int64_t windows = std::int64_t{plan.aggregators_on_a_node} * plan.buffers +
                                 (topology.nodes() > 1 ? staged_for_others : 0);
    return windows * staged_bytes(plan.window_bytes, plan.granularity);
}

// Chooses the largest windows, at most as large as the settings ask for, with which everything fits
// into staging; if even the smallest windows do not fit, fewer buffers. Both have a minimum, which
// always fits: settings keep staging large enough for three of the smallest windows.
void fit_into_staging(Plan& plan, const NodeTopology& topology, const Tuning& tuning,
                      IoDirection direction) {
    plan.window_bytes = whole_units(window_bytes(tuning, plan.layout, direction));
    plan.buffers = tuning.buffers;
    while (staged_on_a_node(plan, topology) > tuning.staging_bytes_max) {
        if (plan.window_bytes > window_bytes_min) {
            plan.window_bytes = whole_units(plan.window_bytes / 2);
        } else if (plan.buffers > buffers_min) {
            --plan.buffers;
        } else {
            return;
        }
    }
}

// A smaller window for a small request: with a quarter of an aggregator's part in each window, the
// rounds overlap.
std::int64_t shared_window(std::int64_t window, const Plan& plan) {
    const std::int64_t share = (plan.span.end() - plan.span.begin).bytes() /
                               (static_cast<std::int64_t>(plan.aggregators.size()) * 4);
    const auto rounded =
        std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(share, 1)));
    return std::clamp(whole_units(static_cast<std::int64_t>(rounded)),
                      std::min(window, window_bytes_min * 8), window);
}

}  // namespace

std::vector<Aggregator> place_aggregators(const FileStripes& layout_asked,
                                          const NodeTopology& topology, const Tuning& tuning) {
    const FileStripes layout = completed(layout_asked);
    const std::int32_t shares = share_count(layout, topology, tuning);
    const std::int64_t count = shares > 1 ? std::int64_t{shares} * layout.targets
                                          : aggregator_count(layout, topology, tuning);
    const std::int64_t nodes = topology.nodes();
    std::vector<Aggregator> placed;
    placed.reserve(static_cast<std::size_t>(count));
    const std::int64_t together = std::max<std::int64_t>(places(topology) / nodes, 1);
    std::vector<std::int32_t> on_nodes(topology.locals.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        const bool dealt = shares > 1 && count > nodes;
        const std::int64_t spread = dealt ? i % nodes : i * nodes / count;
        const std::int64_t node = tuning.simulated_only.placement == AggregatorPlacement::spread
                                      ? spread
                                      : i / together % nodes;
        std::int32_t& before = on_nodes[static_cast<std::size_t>(node)];
        const std::int32_t locals = topology.locals[static_cast<std::size_t>(node)];
        Aggregator one;
        one.node = NodeId{static_cast<std::int32_t>(node)};
        one.local = LocalRank{before % locals};
        one.on_node = before++;
        if (shares > 1) {
            one.first_target = static_cast<std::int32_t>(i % layout.targets);
            one.share = static_cast<std::int32_t>(i / layout.targets);
        } else {
            one.first_target = static_cast<std::int32_t>(i * layout.targets / count);
            one.targets =
                static_cast<std::int32_t>((i + 1) * layout.targets / count) - one.first_target;
        }
        placed.push_back(one);
    }
    return placed;
}

std::optional<AggregatorId> aggregator_at(const std::vector<Aggregator>& aggregators, NodeId node,
                                          LocalRank local) noexcept {
    for (std::size_t i = 0; i < aggregators.size(); ++i) {
        if (aggregators[i].node == node && aggregators[i].local == local) {
            return AggregatorId{static_cast<std::int32_t>(i)};
        }
    }
    return std::nullopt;
}

bool share_targets(const std::vector<Aggregator>& aggregators) noexcept {
    return !aggregators.empty() && aggregators.back().share > 0;
}

FileStripes completed(FileStripes layout) noexcept {
    if (layout.targets > 1 && layout.stripe_bytes == 0) {
        layout.stripe_bytes = 1 << 20;  // Lustre's default
    }
    // No file system has smaller stripes. A hint may claim them, and would only make requests tiny.
    while (layout.stripe_bytes > 0 && layout.stripe_bytes < stripe_bytes_min) {
        layout.stripe_bytes *= 2;
    }
    return layout;
}

bool bypasses(const Summary& all, const FileStripes& layout, const NodeTopology& topology,
              const Tuning& tuning, IoDirection direction) {
    const SwitchMode mode = direction == IoDirection::write ? tuning.write : tuning.read;
    const bool overlaps_for_sure = all.bytes > all.end - all.begin;
    if (mode != SwitchMode::automatic || overlaps_for_sure) {
        return false;
    }
    const bool one_node = topology.locals.size() == 1;
    if (one_node && !all.long_in_memory) {
        return false;
    }
    if (one_node && all.unbroken && layout.stripe_bytes == 0) {
        return true;
    }
    return all.shortest_piece >= tuning.bypass_bytes_min && aligned(all, completed(layout));
}

Plan make_plan(const Summary& all, const FileStripes& layout, const NodeTopology& topology,
               const Tuning& tuning, IoDirection direction) {
    Plan plan;
    plan.layout = completed(layout);
    plan.aggregators = place_aggregators(layout, topology, tuning);
    plan.bytes = all.bytes;
    if (all.empty()) {
        return plan;
    }
    for (const Aggregator& aggregator : plan.aggregators) {
        plan.aggregators_on_a_node = std::max(plan.aggregators_on_a_node, aggregator.on_node + 1);
        plan.shares = std::max(plan.shares, aggregator.share + 1);
    }
    plan.path = bypasses(all, layout, topology, tuning, direction) ? TransferPath::bypass
                                                                   : TransferPath::exchange;
    const std::int32_t in_flight =
        tuning.finds_limit() ? first_requests_in_flight : tuning.requests_in_flight;
    plan.shares_at_once = std::min(in_flight, plan.shares);
    plan.exchange = tuning.exchange;
    plan.domains = tuning.simulated_only.domains;
    plan.takes_turns = plan.shares > 1 && plan.domains == DomainDivision::by_stripes &&
                       tuning.requests_in_flight < unlimited_requests_in_flight;
    plan.span = all.span();
    plan.granularity = common_granularity(all, plan.layout);
    fit_into_staging(plan, topology, tuning, direction);
    plan.window_bytes = shared_window(plan.window_bytes, plan);
    plan.block_bytes = std::min(block_bytes_default, plan.window_bytes);
    const bool dense = plan.span.length.bytes() / dense_share <= all.bytes;
    plan.rounds = dense ? RoundKind::by_span : RoundKind::by_claims;
    return plan;
}

Domain Plan::domain(AggregatorId id) const {
    const Aggregator& aggregator = aggregators[id.position()];
    if (domains == DomainDivision::even) {
        const auto count = static_cast<std::int64_t>(aggregators.size());
        const std::int64_t share = (span.length.bytes() / count / unit_max + 1) * unit_max;
        const std::int64_t first = span.begin.bytes() / unit_max * unit_max;
        return Domain::run(Offset{first} + Length{share} * id.value(), Length{share});
    }
    if (shares > 1) {  // as if each share of a target were a target of its own
        const FileStripes dealt{layout.targets * shares, layout.stripe_bytes};
        return Domain{dealt, aggregator.share * layout.targets + aggregator.first_target, 1};
    }
    return Domain{layout, aggregator.first_target, aggregator.targets};
}

std::int64_t Plan::rounds_of(AggregatorId id) const {
    const Domain own = domain(id);
    const std::int64_t begin = own.linear_at(span.begin);
    const std::int64_t end = own.linear_at(span.end());
    return end <= begin ? 0 : (end - 1) / window_bytes - begin / window_bytes + 1;
}

std::int64_t Plan::round_count() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < aggregators.size(); ++i) {
        most = std::max(most, rounds_of(AggregatorId{static_cast<std::int32_t>(i)}));
    }
    return most;
}

}  // namespace forebay::plan
