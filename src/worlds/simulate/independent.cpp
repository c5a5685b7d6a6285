// Runs a simulated program that does independent I/O in every process (open, write or read, close),
// and makes the result from the times of all processes.
#include "worlds/simulate/independent.hpp"

#include "worlds/memory/file.hpp"
#include "worlds/simulate/barrier.hpp"
#include "worlds/simulate/imagined_bytes.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace forebay::sim {

namespace {

// The times at which a process finished each phase.
struct ProcessTimes {
    double begun = 0;
    double opened = 0;
    double moved = 0;
    double closed = 0;
    std::int64_t bytes = 0;
    std::string error;
};

class RankProcess {
public:
    RankProcess(const IndependentExperiment& experiment, RankBarrier& barrier,
                adapters::RankPorts& ports)
        : experiment_{experiment},
          meeting_{barrier},
          ports_{ports},
          number_{ports.communicator.place().rank.value()} {}

    ProcessTimes run();

private:
    [[nodiscard]] double now() const { return adapters::seconds(ports_); }
    [[nodiscard]] adapters::MountedFile file() const;
    void open();
    // The reason if a call failed; empty: success.
    std::string move(ports::FileStorage& storage, std::int64_t& moved);
    int call(ports::FileStorage& storage, Offset at, Length length);

    const IndependentExperiment& experiment_;
    RankBarrier& meeting_;
    adapters::RankPorts& ports_;
    std::int64_t number_;
};

// Files start on consecutive targets, as Lustre allocates them; the seed and the moment determine
// the first target.
adapters::MountedFile RankProcess::file() const {
    const IndependentExperiment& e = experiment_;
    const std::int64_t targets = e.platform.target.count;
    const std::int64_t number = e.shared ? 0 : number_;
    const auto first = static_cast<std::int64_t>(
        adapters::scramble(e.seed, 0xf11e, static_cast<std::uint64_t>(e.background_load.moment)) %
        static_cast<std::uint64_t>(targets));
    adapters::MountedFile file;
    file.place.number = number;
    file.place.targets = stripes_of(e);
    file.place.first_target =
        static_cast<std::int32_t>((first + number * file.place.targets) % targets);
    file.bytes = e.process_bytes * (e.shared && !e.same ? processes_of(e) : 1);
    file.direct = e.direct;
    return file;
}

// Process 0 creates the shared file.
void RankProcess::open() {
    const bool makes = !experiment_.read && (!experiment_.shared || number_ == 0);
    if (makes) {
        ports_.life.create(stripes_of(experiment_));
    } else {
        ports_.life.ask(adapters::MetadataCall::open);
    }
}

int RankProcess::call(ports::FileStorage& storage, Offset at, Length length) {
    const std::array pieces{ports::Piece{at, imagined_bytes(length)}};
    ports::Request request;
    request.direction = experiment_.read ? IoDirection::read : IoDirection::write;
    request.pieces = pieces;
    request.at_once = true;
    storage.submit(request);
    std::array<ports::RequestCompletion, 1> done;
    storage.wait(done);
    return done.front().system;
}

std::string RankProcess::move(ports::FileStorage& storage, std::int64_t& moved) {
    const IndependentExperiment& e = experiment_;
    const std::int64_t begin = e.shared && !e.same ? number_ * e.process_bytes : 0;
    for (moved = 0; moved < e.process_bytes;) {
        const std::int64_t bytes = std::min(e.transfer_bytes, e.process_bytes - moved);
        if (const int failed = call(storage, Offset{begin + moved}, Length{bytes}); failed != 0) {
            return fmt::format("a call failed (errno {})", failed);
        }
        moved += bytes;
    }
    const auto synced = e.read ? Result<void>{} : storage.sync();
    return synced ? std::string{} : synced.error().message;
}

ProcessTimes RankProcess::run() {
    ProcessTimes told;
    const auto storage = ports_.life.mounted(file());
    meeting_.meet(ports_);
    told.begun = now();
    open();
    meeting_.meet(ports_);
    told.opened = now();
    told.error = move(*storage, told.bytes);
    meeting_.meet(ports_);
    told.moved = now();
    ports_.life.ask(adapters::MetadataCall::close);
    told.closed = now();
    return told;
}

double steady_rate(const IndependentExperiment& experiment, const adapters::WorldReport& world) {
    constexpr std::size_t parts = adapters::WorldReport::parts;
    constexpr std::size_t from = parts / 4;
    constexpr std::size_t to = parts - parts / 8;
    if (world.passed.size() < to) {
        return 0;
    }
    const double seconds = world.passed[to - 1] - world.passed[from - 1];
    const double bytes = static_cast<double>(experiment.process_bytes * processes_of(experiment)) *
                         static_cast<double>(to - from) / static_cast<double>(parts);
    return seconds > 0 ? bytes / seconds : 0;
}

}  // namespace

std::int64_t processes_of(const IndependentExperiment& experiment) noexcept {
    const adapters::NodePlatform& node = experiment.platform.node;
    return experiment.processes == 0 ? node.count * per_node_of(experiment) : experiment.processes;
}

std::int64_t per_node_of(const IndependentExperiment& experiment) noexcept {
    const std::int64_t ranks = experiment.platform.node.ranks;
    const std::int64_t wanted = experiment.per_node == 0 ? ranks : experiment.per_node;
    return experiment.processes == 0 ? wanted : std::min(wanted, experiment.processes);
}

std::int64_t nodes_of(const IndependentExperiment& experiment) noexcept {
    const std::int64_t per_node = per_node_of(experiment);
    return (processes_of(experiment) + per_node - 1) / per_node;
}

std::int32_t stripes_of(const IndependentExperiment& experiment) noexcept {
    const auto targets = static_cast<std::int32_t>(experiment.platform.target.count);
    return experiment.stripe_count == 0 ? targets : std::min(experiment.stripe_count, targets);
}

Result<IndependentOutcome> run(const IndependentExperiment& experiment) {
    const adapters::MachinePlatform& platform = experiment.platform;
    const std::int64_t processes = processes_of(experiment);
    adapters::WorldOptions options;
    options.hosts = static_cast<std::int32_t>(nodes_of(experiment));
    options.ranks_per_host = static_cast<std::int32_t>(per_node_of(experiment));
    options.ranks_per_node = options.ranks_per_host;
    options.node_bytes = 4096;
    options.seed = experiment.seed + static_cast<std::uint64_t>(experiment.background_load.moment);
    options.sickness = experiment.sickness;
    options.slower = slowness(experiment.background_load, experiment.seed, platform.target.count);
    options.bytes_expected = processes * experiment.process_bytes;
    RankBarrier barrier{processes};
    std::vector<ProcessTimes> told(static_cast<std::size_t>(processes));
    auto world = adapters::run_world(platform, options, [&](adapters::RankPorts& ports) {
        const std::size_t number = ports.communicator.place().rank.position();
        if (number < told.size()) {  // the last node may have ranks without a process
            told[number] = RankProcess{experiment, barrier, ports}.run();
        }
    });
    if (!world) {
        return failure(world.error());
    }
    IndependentOutcome outcome;
    outcome.world = *std::move(world);
    double closed = 0;
    for (const ProcessTimes& one : told) {
        outcome.bytes += one.bytes;
        outcome.open_seconds = std::max(outcome.open_seconds, one.opened - one.begun);
        outcome.moving_seconds = std::max(outcome.moving_seconds, one.moved - one.opened);
        closed = std::max(closed, one.closed);
        outcome.error = outcome.error.empty() ? one.error : outcome.error;
    }
    outcome.close_seconds = closed - told.front().moved;
    outcome.steady_rate = steady_rate(experiment, outcome.world);
    return outcome;
}

std::string as_json(const IndependentExperiment& experiment, const IndependentOutcome& outcome) {
    nlohmann::ordered_json line;
    line["schema"] = "forebay.simulation.independent/1";
    line["platform"] = experiment.platform.name;
    line["processes"] = processes_of(experiment);
    line["per_node"] = per_node_of(experiment);
    line["nodes"] = nodes_of(experiment);
    line["targets"] = experiment.platform.target.count;
    line["files"] = experiment.shared ? 1 : processes_of(experiment);
    line["stripe_count"] = stripes_of(experiment);
    line["direction"] = experiment.read ? "read" : "write";
    line["seed"] = experiment.seed;
    line["moment"] = experiment.background_load.moment;
    line["bytes"] = outcome.bytes;
    line["seconds_open"] = outcome.open_seconds;
    line["seconds_moving"] = outcome.moving_seconds;
    line["seconds_close"] = outcome.close_seconds;
    line["steady_rate"] = outcome.steady_rate;
    line["requests"] = outcome.world.requests;
    line["request_bytes"] = outcome.world.request_bytes;
    line["locks_asked"] = outcome.world.locks_asked;
    line["locks_lost"] = outcome.world.locks_lost;
    line["target_bytes"] = outcome.world.target_bytes;
    line["target_busy"] = outcome.world.target_busy;
    line["error"] = outcome.error;
    return line.dump();
}

}  // namespace forebay::sim
