// The terms are EARTH's (Tsujita et al., 2015). All published variants exchange messages between
// ranks and have one buffer per aggregator, as ROMIO does. They differ in the placement of
// aggregators, in the number of requests in flight at a target, and in whether the exchange has a
// barrier.
#include "worlds/simulate/variants.hpp"

#include <charconv>
#include <fmt/format.h>

namespace forebay::sim {

namespace {

void as_romio(CollectiveExperiment& experiment) {
    experiment.ranks_alone = true;
    experiment.mapping = adapters::RankMapping::by_block;
    experiment.tuning.simulated_only.placement = plan::AggregatorPlacement::in_order;
    experiment.tuning.exchange = plan::ExchangeOrder::all;
    experiment.tuning.buffers = 1;
    // Assumed, since the paper does not say: 256, 384 and 768 aggregators all fill 97 % of such
    // windows.
    experiment.tuning.window_bytes = 44 << 20;
    experiment.tuning.staging_bytes_max = std::int64_t{1} << 30;
    experiment.tuning.requests_in_flight = plan::unlimited_requests_in_flight;
}

constexpr std::int32_t limit_max = plan::unlimited_requests_in_flight;

// The k of "earth(wr:k)"; -1: it is out of range; 0: `name` is another variant.
std::int32_t limit_in(const std::string& name, std::string_view before) {
    std::int32_t limit = 0;
    if (!name.starts_with(before) || !name.ends_with(")")) {
        return 0;
    }
    const char* close = name.data() + name.size() - 1;
    const auto [end, code] = std::from_chars(name.data() + before.size(), close, limit);
    if (code == std::errc::invalid_argument || end != close) {
        return 0;
    }
    return code == std::errc{} && limit >= 1 && limit <= limit_max ? limit : -1;
}

}  // namespace

Result<void> apply_variant(const std::string& name, CollectiveExperiment& experiment) {
    experiment.variant = name;
    if (name == "forebay") {
        return {};
    }
    const std::int32_t writes = limit_in(name, "earth(wr:");
    const std::int32_t both = limit_in(name, "earth(wr,ex:");
    if (writes < 0 || both < 0) {
        return failure({ErrorCode::argument, 0,
                        fmt::format("cannot use the variant \"{}\" (its k must be a whole number "
                                    "from 1 to {}). Give such a number.",
                                    name, limit_max)});
    }
    if (name != "original" && name != "placement" && writes == 0 && both == 0) {
        return failure({ErrorCode::argument, 0,
                        fmt::format("there is no variant \"{}\" (known: forebay, original, "
                                    "placement, earth(wr:2), earth(wr,ex:2)). Name one of them.",
                                    name)});
    }
    as_romio(experiment);
    if (name == "original") {
        experiment.tuning.simulated_only.domains = plan::DomainDivision::even;
    } else {
        experiment.mapping = adapters::RankMapping::round_robin;
    }
    if (writes > 0 || both > 0) {
        experiment.tuning.requests_in_flight = writes > 0 ? writes : both;
    }
    if (both > 0) {
        experiment.tuning.exchange = plan::ExchangeOrder::stepwise;
    }
    return {};
}

}  // namespace forebay::sim
