// Both variants run in one simulation, one after the other, on the same file system.
#include "worlds/simulate/pool_experiment.hpp"

#include "worlds/simulate/pool_node.hpp"
#include "worlds/simulate/pool_program.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace forebay::sim {

namespace {

struct PlainAndPooled {
    PoolTold plain;
    PoolTold pooled;
};

void serve_node(PoolWorld& world, adapters::RankPorts& ports) {
    ports.communicator.wait(world.turn_of_pool, 0);
    const double began = adapters::seconds(ports);
    const std::int32_t number = ports.communicator.place().node.value();
    auto& node = world.nodes[ports.communicator.place().node.position()];
    node = std::make_unique<PoolNode>(world.shape_of(number, began), ports);
    world.daemons.fetch_add(1);
    ports.communicator.wake(world.daemons);
    node->serve();
}

PoolOutcome::Way way_of(const PoolExperiment& experiment, const std::vector<PlainAndPooled>& told,
                        PoolTold PlainAndPooled::* which) {
    PoolOutcome::Way way;
    double began = 0;
    double ended = 0;
    double opening = 0;
    double closing = 0;
    for (const PlainAndPooled& one : told) {
        const PoolTold& rank = one.*which;
        opening = std::max(opening, rank.opening);
        closing = std::max(closing, rank.closing);
        began = std::max(began, rank.began);
        ended = std::max(ended, rank.ended);
        way.gathered = std::max(way.gathered, rank.gathered);
        way.longest = std::max(way.longest, rank.longest);
        way.requests += rank.requests;
        way.reading = std::max(way.reading, rank.reading);
        way.input += rank.input;
    }
    way.metadata = opening + closing;
    way.seconds = ended - began;
    way.exposed = way.seconds - static_cast<double>(experiment.steps) * experiment.interval;
    return way;
}

}  // namespace

std::int64_t ranks_of(const PoolExperiment& experiment) noexcept {
    return experiment.platform.node.count * experiment.platform.node.ranks;
}

std::int64_t writers_of(const PoolExperiment& experiment) noexcept {
    return experiment.writers == 0 ? ranks_of(experiment) : experiment.writers;
}

std::int64_t file_bytes_of(const PoolExperiment& experiment) noexcept {
    return std::max<std::int64_t>(
        experiment.burst_bytes / writers_of(experiment) / experiment.files, 1);
}

Result<PoolOutcome> run(const PoolExperiment& experiment) {
    auto made = PoolWorld::make(experiment);
    if (!made) {
        return failure(made.error());
    }
    PoolWorld& world = **made;
    const adapters::MachinePlatform& platform = experiment.platform;
    adapters::WorldOptions options;
    options.hosts = static_cast<std::int32_t>(platform.node.count);
    options.ranks_per_host = static_cast<std::int32_t>(platform.node.ranks) + daemons_per_node;
    options.ranks_per_node = options.ranks_per_host;
    options.node_bytes = 4096;
    options.seed = experiment.seed;
    std::vector<PlainAndPooled> told(static_cast<std::size_t>(ranks_of(experiment)));
    const auto simulated = adapters::run_world(platform, options, [&](adapters::RankPorts& ports) {
        const ports::RankPlace& place = ports.communicator.place();
        if (place.leader()) {
            serve_node(world, ports);
            return;
        }
        PoolProgram program{world, ports};
        PlainAndPooled& mine =
            told[place.rank.position() - place.node.position() - daemons_per_node];
        if (!experiment.pooled_only) {
            mine.plain = program.run_plain();
        }
        world.begin_pool(ports);
        mine.pooled = program.run_pooled();
    });
    if (!simulated) {
        return failure(simulated.error());
    }
    PoolOutcome outcome;
    outcome.plain = way_of(experiment, told, &PlainAndPooled::plain);
    outcome.pooled = way_of(experiment, told, &PlainAndPooled::pooled);
    outcome.pooled.requests = simulated->requests - outcome.plain.requests;
    double ended = 0;
    for (const PlainAndPooled& one : told) {
        outcome.bytes += one.pooled.bytes;
        outcome.bytes_past += one.pooled.bytes_past;
        outcome.opened += one.pooled.opened;
        outcome.waited = std::max(outcome.waited, one.pooled.waited);
        ended = std::max(ended, one.pooled.ended);
    }
    for (const auto& node : world.nodes) {
        const PoolNode::Report& report = node->report();
        outcome.drained += report.drained;
        outcome.pooled.input += report.fetched - report.passed;
        outcome.pooled.passed += report.passed;
        outcome.drained_after = std::max(outcome.drained_after, report.drained_at - ended);
        outcome.high = std::max(outcome.high, report.high);
        outcome.file_high = std::max(outcome.file_high, report.file_high);
        outcome.messages += report.messages;
        outcome.refused += report.refused;
        outcome.failed_jobs += report.failed_jobs;
        outcome.closed_early = outcome.closed_early || report.closed_early;
    }
    return outcome;
}

double hidden(const PoolOutcome& outcome) noexcept {
    return outcome.plain.exposed <= 0 ? 0 : 1 - outcome.pooled.exposed / outcome.plain.exposed;
}

std::int64_t wrong(const PoolOutcome& outcome) noexcept {
    const std::int64_t lost = outcome.bytes - outcome.bytes_past - outcome.drained;
    return outcome.refused + outcome.failed_jobs + (lost == 0 ? 0 : 1);
}

std::string as_json(const PoolExperiment& experiment, const PoolOutcome& outcome) {
    nlohmann::ordered_json line;
    line["schema"] = "forebay.simulation.pool/1";
    line["platform"] = experiment.platform.name;
    line["ranks"] = ranks_of(experiment);
    line["nodes"] = experiment.platform.node.count;
    line["targets"] = experiment.platform.target.count;
    line["writers"] = writers_of(experiment);
    line["files"] = experiment.files;
    line["steps"] = experiment.steps;
    line["interval"] = experiment.interval;
    line["window_bytes"] = experiment.pool.window_bytes;
    line["cap_bytes"] = experiment.pool.cap_bytes;
    line["readers"] = experiment.readers;
    line["seed"] = experiment.seed;
    line["bytes"] = outcome.bytes;
    const auto way = [](const PoolOutcome::Way& one) {
        nlohmann::ordered_json text;
        text["seconds"] = one.seconds;
        text["exposed"] = one.exposed;
        text["gathered"] = one.gathered;
        text["longest"] = one.longest;
        text["requests"] = one.requests;
        text["reading"] = one.reading;
        text["input_bytes"] = one.input;
        text["passed_bytes"] = one.passed;
        return text;
    };
    line["plain"] = way(outcome.plain);
    line["pooled"] = way(outcome.pooled);
    line["hidden"] = hidden(outcome);
    line["waited_for_room"] = outcome.waited;
    line["drained_after"] = outcome.drained_after;
    line["high_bytes"] = outcome.high;
    line["file_high_bytes"] = outcome.file_high;
    line["bytes_past"] = outcome.bytes_past;
    line["closed_early"] = outcome.closed_early;
    line["messages"] = outcome.messages;
    line["opened"] = outcome.opened;
    line["wrong"] = wrong(outcome);
    return line.dump();
}

}  // namespace forebay::sim
