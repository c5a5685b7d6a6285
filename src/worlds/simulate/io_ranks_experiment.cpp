// `gather` and `io_ranks` run the hand-over; `pool` and `output` are runs of the pool's experiment.
#include "worlds/simulate/io_ranks_experiment.hpp"

#include "worlds/simulate/io_ranks_program.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace forebay::sim {

namespace {

struct VariantName {
    OutputVariant variant;
    const char* name;
};

constexpr std::array<VariantName, 4> variant_names{
    VariantName{OutputVariant::gather, "gather"}, VariantName{OutputVariant::io_ranks, "io-ranks"},
    VariantName{OutputVariant::pool, "pool"}, VariantName{OutputVariant::output, "output"}};

bool is_pooled(OutputVariant variant) noexcept {
    return variant == OutputVariant::pool || variant == OutputVariant::output;
}

std::int64_t world_of(const IoRanksExperiment& experiment) noexcept {
    const bool dedicated = experiment.variant == OutputVariant::io_ranks;
    return ranks_of(experiment) + (dedicated ? experiment.io_ranks : 0);
}

IoRanksOutcome outcome_of(const IoRanksExperiment& experiment,
                          const std::vector<HandOverTold>& told) {
    IoRanksOutcome outcome;
    double ended = 0;
    double written = 0;
    double opening = 0;
    double closing = 0;
    for (const HandOverTold& rank : told) {
        if (rank.computes) {  // what an I/O rank opens, it opens while the others compute
            opening = std::max(opening, rank.opening);
            closing = std::max(closing, rank.closing);
        }
        ended = std::max(ended, rank.computes ? rank.ended : 0);
        written = std::max(written, rank.ended);
        outcome.collected = std::max(outcome.collected, rank.collected);
        outcome.written = std::max(outcome.written, rank.written);
        outcome.waited = std::max(outcome.waited, rank.waited);
        outcome.arrived += rank.bytes;
        outcome.requests += rank.requests;
    }
    outcome.metadata = opening + closing;
    outcome.seconds = ended;  // all begin at 0
    outcome.exposed = ended - static_cast<double>(experiment.steps) * experiment.interval;
    outcome.written_after = written - ended;
    outcome.bytes = experiment.burst_bytes / experiment.files * experiment.files * experiment.steps;
    return outcome;
}

Result<IoRanksOutcome> run_hand_over(const IoRanksExperiment& experiment) {
    HandOverWorld world{experiment};
    const std::int64_t ranks = world_of(experiment);
    adapters::WorldOptions options;
    options.hosts = static_cast<std::int32_t>(nodes_of(experiment));
    options.ranks_per_host = static_cast<std::int32_t>(experiment.platform.node.ranks);
    options.ranks_per_node = options.ranks_per_host;
    options.node_bytes = 4096;  // which nobody uses
    options.seed = experiment.seed;
    std::vector<HandOverTold> told(static_cast<std::size_t>(ranks));
    const auto simulated =
        adapters::run_world(experiment.platform, options, [&](adapters::RankPorts& ports) {
            const std::size_t rank = ports.communicator.place().rank.position();
            if (rank < told.size()) {  // a node's last cores may be free
                told[rank] = HandOverRank{world, ports}.run();
            }
        });
    if (!simulated) {
        return failure(simulated.error());
    }
    return outcome_of(experiment, told);
}

Result<IoRanksOutcome> run_pooled(const IoRanksExperiment& experiment) {
    return run(pool_experiment_of(experiment)).map([](const PoolOutcome& pool) {
        IoRanksOutcome outcome;
        outcome.seconds = pool.pooled.seconds;
        outcome.exposed = pool.pooled.exposed;
        outcome.metadata = pool.pooled.metadata;
        outcome.collected = pool.pooled.gathered;
        outcome.waited = pool.waited;
        outcome.written_after = std::max(pool.drained_after, 0.0);
        outcome.bytes = pool.bytes;
        outcome.arrived = pool.drained + pool.bytes_past;
        outcome.requests = pool.pooled.requests;
        outcome.high = pool.high;
        outcome.wrong = pool.refused + pool.failed_jobs;
        return outcome;
    });
}

}  // namespace

const char* name_of(OutputVariant variant) noexcept {
    const auto* const found = std::ranges::find(variant_names, variant, &VariantName::variant);
    return found == variant_names.end() ? "" : found->name;
}

Result<OutputVariant> output_variant_of(std::string_view name) {
    const auto* const found = std::ranges::find(variant_names, name, &VariantName::name);
    if (found == variant_names.end()) {
        return failure({ErrorCode::argument, 0,
                        fmt::format("there is no variant \"{}\" (known: gather, io-ranks, pool, "
                                    "output). Name one of them.",
                                    name)});
    }
    return found->variant;
}

std::int64_t ranks_of(const IoRanksExperiment& experiment) noexcept {
    const adapters::NodePlatform& node = experiment.platform.node;
    const bool dedicated = experiment.variant == OutputVariant::io_ranks;
    const std::int64_t all = node.count * node.ranks - (dedicated ? experiment.io_ranks : 0);
    const std::int64_t ranks = experiment.ranks == 0 ? all : experiment.ranks;
    const std::int64_t full = (ranks + node.ranks - 1) / node.ranks * node.ranks;
    return is_pooled(experiment.variant) ? full : ranks;
}

std::int64_t nodes_of(const IoRanksExperiment& experiment) noexcept {
    const std::int64_t each = experiment.platform.node.ranks;
    return (world_of(experiment) + each - 1) / each;
}

io_ranks::WorldShape shape_of(const IoRanksExperiment& experiment) noexcept {
    return {static_cast<std::int32_t>(ranks_of(experiment) + experiment.io_ranks),
            static_cast<std::int32_t>(experiment.io_ranks),
            static_cast<std::int32_t>(experiment.spread)};
}

PoolExperiment pool_experiment_of(const IoRanksExperiment& experiment) {
    PoolExperiment pool;
    pool.platform = experiment.platform;
    pool.platform.node.count = nodes_of(experiment);
    pool.burst_bytes = experiment.burst_bytes;
    pool.interval = experiment.interval;
    pool.steps = experiment.steps;
    pool.files = experiment.files;
    pool.stripe_count = experiment.stripe_count;
    pool.plain_in_flight = experiment.plain_in_flight;
    pool.row_bytes = experiment.row_bytes;
    if (experiment.variant == OutputVariant::output) {
        pool.levels = experiment.levels;
        pool.writers = experiment.writers_per_node * pool.platform.node.count;
    }
    pool.pooled_only = true;
    pool.pool = experiment.pool;
    pool.touch_rate = experiment.touch_rate;
    pool.seed = experiment.seed;
    return pool;
}

Result<IoRanksOutcome> run(const IoRanksExperiment& experiment) {
    return is_pooled(experiment.variant) ? run_pooled(experiment) : run_hand_over(experiment);
}

std::int64_t wrong(const IoRanksOutcome& outcome) noexcept {
    return outcome.wrong + (outcome.arrived == outcome.bytes ? 0 : 1);
}

std::string as_json(const IoRanksExperiment& experiment, const IoRanksOutcome& outcome) {
    const bool dedicated = experiment.variant == OutputVariant::io_ranks;
    nlohmann::ordered_json line;
    line["schema"] = "forebay.simulation.io_ranks/1";
    line["platform"] = experiment.platform.name;
    line["variant"] = name_of(experiment.variant);
    line["ranks"] = ranks_of(experiment);
    line["io_ranks"] = dedicated ? experiment.io_ranks : 0;
    line["spread"] = dedicated ? experiment.spread : 0;
    line["nodes"] = nodes_of(experiment);
    line["targets"] = experiment.platform.target.count;
    line["files"] = experiment.files;
    line["steps"] = experiment.steps;
    line["interval"] = experiment.interval;
    line["seed"] = experiment.seed;
    line["bytes"] = outcome.bytes;
    line["seconds"] = outcome.seconds;
    line["exposed"] = outcome.exposed;
    line["metadata"] = outcome.metadata;
    line["collected"] = outcome.collected;
    line["written"] = outcome.written;
    line["waited_for_room"] = outcome.waited;
    line["written_after"] = outcome.written_after;
    line["high_bytes"] = outcome.high;
    line["requests"] = outcome.requests;
    line["wrong"] = wrong(outcome);
    return line.dump();
}

}  // namespace forebay::sim
