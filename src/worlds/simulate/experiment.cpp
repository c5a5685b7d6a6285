// The program that every rank runs, and the evaluation of its times.
#include "worlds/simulate/experiment.hpp"

#include "collective/engine/file.hpp"
#include "foundation/pattern/view.hpp"
#include "worlds/memory/file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace forebay::sim {

namespace {

class NoRecorder final : public ports::CallRecorder {
public:
    void call(const ports::CallRecord& record) override { rounds += record.rounds; }
    void error(const Error& /*error*/) override {}
    std::int64_t rounds = 0;
};

// The measurements of one rank.
struct RankReport {
    std::int64_t bytes = 0;
    std::int64_t wrong = 0;
    double began = 0;
    double ended = 0;
    double opening = 0;  // seconds
    double closing = 0;
    std::int64_t rounds = 0;
    std::string error;
    std::optional<SlowTarget> slow;
};

std::byte byte_of(std::int64_t rank, std::int64_t position) {
    return static_cast<std::byte>((rank * 131 + position * 7 + (position >> 8) * 13) & 0xff);
}

class RankProgram {
public:
    RankProgram(const CollectiveExperiment& experiment, adapters::RankPorts& ports)
        : experiment_{experiment}, ports_{ports} {
        const HpioRegions& regions = experiment.regions;
        const std::int64_t rank = ports.communicator.place().rank.value();
        const std::int64_t stride = regions.bytes + regions.spacing;
        view_ = *pattern::View::make(Offset{rank * stride}, pattern::Nest::run(regions.bytes),
                                     Length{stride * ranks_of(experiment)}, Length{1});
        length_ = regions.count * regions.bytes;
    }

    RankReport run();

private:
    [[nodiscard]] double now() const { return adapters::seconds(ports_); }
    [[nodiscard]] engine::FileOptions options() const;
    pattern::RankMemory memory();
    void fill(std::int64_t position);
    std::int64_t differing(std::int64_t position) const;

    const CollectiveExperiment& experiment_;
    adapters::RankPorts& ports_;
    pattern::View view_;
    std::int64_t length_ = 0;
    pattern::Nest nest_ = pattern::Nest::run(1);
    std::vector<std::byte> bytes_;
};

pattern::RankMemory RankProgram::memory() { return {bytes_.data(), &nest_, 1}; }

void RankProgram::fill(std::int64_t position) {
    const std::int64_t rank = ports_.communicator.place().rank.value();
    for (std::int64_t i = 0; i < length_; ++i) {
        bytes_[static_cast<std::size_t>(i)] = byte_of(rank, position + i);
    }
}

std::int64_t RankProgram::differing(std::int64_t position) const {
    const std::int64_t rank = ports_.communicator.place().rank.value();
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < length_; ++i) {
        wrong += bytes_[static_cast<std::size_t>(i)] != byte_of(rank, position + i) ? 1 : 0;
    }
    return wrong;
}

engine::FileOptions RankProgram::options() const {
    engine::FileOptions options;
    options.path = "/simulated/file";
    const adapters::MachinePlatform& platform = experiment_.platform;
    options.layout = {static_cast<std::int32_t>(platform.target.count), platform.stripe_bytes};
    options.tuning = experiment_.tuning;
    options.aggregators_per_node_max = experiment_.per_node;
    options.imagined = ports_.imagined;
    return options;
}

RankReport RankProgram::run() {
    RankReport told;
    NoRecorder recorder;
    const auto open = [&](IoDirection direction) {
        const double begin = now();
        auto opened = ports_.open(direction);
        told.opening += now() - begin;
        return opened;
    };
    engine::CollectiveFile file{ports_.communicator, ports_.clock, recorder, open, options()};
    if (experiment_.verify) {
        bytes_.resize(static_cast<std::size_t>(length_));
    }
    static_cast<void>(file.agree(std::nullopt));
    told.began = now();
    for (std::int32_t call = 0; call < experiment_.calls && told.error.empty(); ++call) {
        const std::int64_t position = call * length_;
        const engine::CollectiveCall what{
            &view_, {position, length_}, memory(), engine::Refusal::none};
        if (experiment_.verify) {
            fill(position);
        }
        engine::CallOutcome out = experiment_.read ? file.read(what) : file.write(what);
        if (experiment_.verify && !out.error) {
            std::ranges::fill(bytes_, std::byte{0});
            out.error = file.read(what).error;
            told.wrong += out.error ? 0 : differing(position);
        }
        told.bytes += out.bytes.bytes();
        told.error = out.error ? out.error->message : "";
        told.slow = out.slow;
    }
    const double closes = now();
    static_cast<void>(file.close());
    told.ended = now();
    told.closing = told.ended - closes;
    told.rounds = recorder.rounds;
    return told;
}

// A lower bound of the time: every byte passes a node's interface, a server's link and a target
// once. A sick target gets its share of the bytes like the others.
double bound_of(const CollectiveExperiment& experiment, std::int64_t bytes) {
    const adapters::MachinePlatform& p = experiment.platform;
    const auto amount = static_cast<double>(bytes);
    const double requests = amount / static_cast<double>(experiment.tuning.request_bytes_max);
    const auto targets = static_cast<double>(p.target.count);
    const double slowest = experiment.sickness.target >= 0 ? experiment.sickness.slower : 1;
    return std::max(
        {amount / (static_cast<double>(p.node.count) * p.node.link_rate),
         amount / (static_cast<double>(p.server.count) * p.server.link_rate),
         (amount / p.target.rate + requests * p.target.request_time) / targets * slowest});
}

}  // namespace

std::int64_t ranks_of(const CollectiveExperiment& experiment) noexcept {
    return experiment.platform.node.count * experiment.platform.node.ranks;
}

Result<ExperimentOutcome> run(const CollectiveExperiment& experiment) {
    const adapters::MachinePlatform& platform = experiment.platform;
    adapters::WorldOptions options;
    options.hosts = static_cast<std::int32_t>(platform.node.count);
    options.ranks_per_host = static_cast<std::int32_t>(platform.node.ranks);
    options.ranks_per_node = experiment.ranks_alone ? 1 : options.ranks_per_host;
    options.ranks_alone = experiment.ranks_alone;
    options.mapping = experiment.mapping;
    options.blocking = experiment.blocking;
    const auto ranks = static_cast<std::int32_t>(ranks_of(experiment));
    options.node_bytes =
        engine::CollectiveFile::node_segment_bytes(ranks, experiment.tuning.staging_bytes_max);
    options.seed = experiment.seed;
    options.sickness = experiment.sickness;
    std::optional<adapters::MemoryFile> content;
    if (experiment.verify) {
        options.content = &content.emplace();
    }
    std::vector<RankReport> told(static_cast<std::size_t>(ranks_of(experiment)));
    ExperimentOutcome outcome;
    auto world = adapters::run_world(platform, options, [&](adapters::RankPorts& ports) {
        RankProgram program{experiment, ports};
        told[ports.communicator.place().rank.position()] = program.run();
    });
    if (!world) {
        return failure(world.error());
    }
    outcome.world = *std::move(world);
    double began = 0;
    double ended = 0;
    for (const RankReport& one : told) {
        outcome.bytes += one.bytes;
        outcome.wrong += one.wrong;
        outcome.open_seconds = std::max(outcome.open_seconds, one.opening);
        outcome.close_seconds = std::max(outcome.close_seconds, one.closing);
        began = std::max(began, one.began);
        ended = std::max(ended, one.ended);
        outcome.rounds = std::max(outcome.rounds, one.rounds);
        outcome.error = outcome.error.empty() ? one.error : outcome.error;
    }
    if (const auto& slow = told.front().slow) {
        outcome.slow_target = slow->target.value();
        outcome.slow_limit = slow->limit;
    }
    outcome.seconds = ended - began;
    outcome.bound_seconds = bound_of(experiment, outcome.bytes);
    return outcome;
}

std::string as_json(const CollectiveExperiment& experiment, const ExperimentOutcome& outcome) {
    nlohmann::ordered_json line;
    line["schema"] = "forebay.simulation/1";
    line["platform"] = experiment.platform.name;
    line["variant"] = experiment.variant;
    line["ranks"] = ranks_of(experiment);
    line["nodes"] = experiment.platform.node.count;
    line["targets"] = experiment.platform.target.count;
    line["seed"] = experiment.seed;
    line["bytes"] = outcome.bytes;
    line["seconds"] = outcome.seconds;
    line["seconds_open"] = outcome.open_seconds;
    line["seconds_close"] = outcome.close_seconds;
    line["seconds_bound"] = outcome.bound_seconds;
    line["rounds"] = outcome.rounds;
    line["messages"] = outcome.world.messages;
    line["message_bytes"] = outcome.world.message_bytes;
    line["requests"] = outcome.world.requests;
    line["request_bytes"] = outcome.world.request_bytes;
    const auto& busy = outcome.world.target_busy;
    line["target_busy_min"] = *std::ranges::min_element(busy);
    line["target_busy_max"] = *std::ranges::max_element(busy);
    line["slow_target"] = outcome.slow_target;
    line["slow_target_requests_in_flight"] = outcome.slow_limit;
    line["wrong_bytes"] = experiment.verify ? nlohmann::ordered_json(outcome.wrong) : nullptr;
    line["error"] = outcome.error;
    return line.dump();
}

}  // namespace forebay::sim
