// A plan as text for people; golden tests compare it.
#include "collective/plan/plan.hpp"

#include <fmt/format.h>
#include <iterator>

namespace forebay::plan {

namespace {

const char* name_of(TransferPath path) noexcept {
    switch (path) {
        case TransferPath::nothing: return "nothing to do";
        case TransferPath::bypass: return "bypass: every rank for itself";
        case TransferPath::exchange: return "exchange through aggregators";
    }
    return "?";
}

}  // namespace

std::string describe(const Plan& plan) {
    std::string text = fmt::format("path: {}\n", name_of(plan.path));
    if (plan.path == TransferPath::nothing) {
        return text;
    }
    auto out = std::back_inserter(text);
    fmt::format_to(out, "data: {} bytes in [{}, {})\n", plan.bytes, plan.span.begin.bytes(),
                   plan.span.end().bytes());
    fmt::format_to(out, "layout: {} target(s), stripe {} bytes\n", plan.layout.targets,
                   plan.layout.stripe_bytes);
    fmt::format_to(out, "windows: {} × {} bytes an aggregator, coverage in units of {} bytes\n",
                   plan.buffers, plan.window_bytes, plan.granularity);
    fmt::format_to(out, "rounds: {}\n",
                   plan.rounds == RoundKind::by_span
                       ? fmt::format("{} by span", plan.round_count())
                       : fmt::format("by claims of {} bytes", plan.block_bytes));
    for (std::size_t i = 0; i < plan.aggregators.size(); ++i) {
        const Aggregator& a = plan.aggregators[i];
        fmt::format_to(out, "aggregator {}: node {} local rank {}, targets {}..{}, {} round(s)\n",
                       i, a.node.value(), a.local.value(), a.first_target,
                       a.first_target + a.targets - 1,
                       plan.rounds_of(AggregatorId{static_cast<std::int32_t>(i)}));
    }
    return text;
}

}  // namespace forebay::plan
