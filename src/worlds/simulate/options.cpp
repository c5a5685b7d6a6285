// Checks that the values of keys (schema/simulator.toml) are consistent with each other.
#include "worlds/simulate/options.hpp"

#include "collective/plan/plan.hpp"
#include "simulate/collective_keys.hpp"
#include "worlds/simulate/key_value_options.hpp"
#include "worlds/simulate/sick_target_options.hpp"
#include "worlds/simulate/variants.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace forebay::sim {

namespace {

using adapters::NumberBounds;

Result<void> take_word(const std::string& said, CollectiveExperiment& experiment) {
    constexpr std::string_view variant = "variant=";
    return said.starts_with(variant) ? apply_variant(said.substr(variant.size()), experiment)
                                     : take(said, collective_keys(), experiment);
}

Result<void> check_ranks(const CollectiveExperiment& experiment) {
    constexpr std::int64_t ranks_max = 65536;
    // Each node keeps 192 bytes for each other node: 13 GB in all.
    constexpr std::int64_t nodes_max = 8192;
    const adapters::NodePlatform& node = experiment.platform.node;
    const std::int64_t ranks = ranks_of(experiment);
    const bool too_many = (experiment.ranks_alone ? ranks : node.count) > nodes_max;
    if (ranks > ranks_max || too_many) {
        return refuse(fmt::format("nodes={} ranks_per_node={}", node.count, node.ranks),
                      fmt::format("there may be {} ranks on {} nodes, or {} that are alone",
                                  ranks_max, nodes_max, nodes_max));
    }
    if (!experiment.ranks_alone && experiment.mapping != adapters::RankMapping::by_block) {
        return refuse("ranks_alone=0",
                      fmt::format("in variant={} every rank is alone", experiment.variant));
    }
    return {};
}

Result<void> check_targets(const CollectiveExperiment& experiment) {
    return check_sick_target(experiment.sickness, experiment.platform.target.count);
}

Result<void> check_verify(const CollectiveExperiment& experiment) {
    return experiment.verify && experiment.read
               ? refuse("verify=1 read=1",
                        "only what was written before can be compared: without "
                        "read=1 it is written and read back")
               : Result<void>{};
}

Result<void> check_staging(const CollectiveExperiment& experiment) {
    constexpr double mapped_bytes_max = 64 * tebibyte;  // half of a process's address space
    // The smallest window, with its coverage.
    constexpr std::int64_t staged_for_a_window = 128 << 10;
    const plan::Tuning& tuning = experiment.tuning;
    const std::int64_t locals = experiment.ranks_alone ? 1 : experiment.platform.node.ranks;
    const std::int64_t windows =
        std::min<std::int64_t>(locals, experiment.per_node) * std::min(tuning.buffers, 3) +
        plan::staged_for_others;
    const NumberBounds bounds{
        static_cast<double>(windows * staged_for_a_window),
        mapped_bytes_max * static_cast<double>(locals) / static_cast<double>(ranks_of(experiment)),
        true};
    const auto right = bounds.check(static_cast<double>(tuning.staging_bytes_max));
    return right ? right
                 : refuse(fmt::format("staging_bytes_max={}", tuning.staging_bytes_max),
                          fmt::format("with these nodes and per_node={} {}", experiment.per_node,
                                      right.error().message));
}

Result<void> check_file(const CollectiveExperiment& experiment) {
    constexpr double file_bytes_max = 1024 * tebibyte;
    constexpr double verified_bytes_max = gibibyte;  // the data is in this machine's memory, twice
    const HpioRegions& regions = experiment.regions;
    const double bytes = static_cast<double>(regions.bytes + regions.spacing) *
                         static_cast<double>(regions.count) * experiment.calls *
                         static_cast<double>(ranks_of(experiment));
    const double most = experiment.verify ? verified_bytes_max : file_bytes_max;
    if (bytes > most) {
        return refuse(fmt::format("region_count={} region_bytes={} region_spacing={}",
                                  regions.count, regions.bytes, regions.spacing),
                      fmt::format("the file would have {} bytes; {} are the most{}", bytes, most,
                                  experiment.verify ? " with verify=1" : ""));
    }
    return {};
}

}  // namespace

std::string help() {
    const std::string text =
        "forebay_sim platform=FILE [variant=NAME] [KEY=VALUE]...\n"
        "Simulates one experiment and prints it as JSON; `forebay simulate` shows it.\n\n";
    return text + listed(platform_words()) + listed(collective_keys());
}

Result<CollectiveExperiment> parse_options(const std::vector<std::string>& words) {
    return checked<CollectiveExperiment>(
        read_words(words, CollectiveExperiment{}, take_word),
        {check_ranks, check_targets, check_verify, check_staging, check_file});
}

}  // namespace forebay::sim
