// Checks that the values of keys (schema/simulator.toml) are consistent with each other.
#include "worlds/simulate/independent_options.hpp"

#include "simulate/independent_keys.hpp"
#include "worlds/simulate/key_value_options.hpp"
#include "worlds/simulate/sick_target_options.hpp"

#include <fmt/format.h>

namespace forebay::sim {

namespace {

constexpr double processes_max = 65536;

Result<void> check_processes(const IndependentExperiment& experiment) {
    const adapters::NodePlatform& node = experiment.platform.node;
    if (experiment.per_node > node.ranks) {
        return refuse(fmt::format("per_node={}", experiment.per_node),
                      fmt::format("a node has {} ranks", node.ranks));
    }
    const std::int64_t nodes = nodes_of(experiment);
    if (nodes > node.count) {
        return refuse(fmt::format("processes={}", processes_of(experiment)),
                      fmt::format("with {} on a node they need {} nodes, and there are {}",
                                  per_node_of(experiment), nodes, node.count));
    }
    constexpr auto most = static_cast<std::int64_t>(processes_max);
    return nodes * per_node_of(experiment) <= most
               ? Result<void>{}
               : refuse(fmt::format("nodes={} ranks_per_node={}", node.count, node.ranks),
                        fmt::format("{} processes are the most", most));
}

Result<void> check_sickness(const IndependentExperiment& experiment) {
    return check_sick_target(experiment.sickness, experiment.platform.target.count);
}

Result<void> check_files(const IndependentExperiment& experiment) {
    if (experiment.same && !(experiment.read && experiment.shared)) {
        return refuse("same=1", "the same bytes are read, of one file: it needs read=1 shared=1");
    }
    const std::int64_t rpc = experiment.platform.client.rpc_bytes;
    const std::int64_t stripe = experiment.platform.stripe_bytes;
    if (rpc % stripe != 0 && stripe % rpc != 0) {
        return refuse(fmt::format("stripe_bytes={}", stripe),
                      fmt::format("an RPC has {}, and one has to be a multiple of the other", rpc));
    }
    return {};
}

// Bounds the number of RPCs, each of which is simulated: 1e8 take an hour.
Result<void> check_size(const IndependentExperiment& experiment) {
    constexpr double requests_max = 1e8;
    const auto processes = static_cast<double>(processes_of(experiment));
    const auto smallest = static_cast<double>(
        std::min({experiment.platform.client.rpc_bytes, experiment.transfer_bytes,
                  experiment.platform.stripe_bytes}));
    const double requests = processes * static_cast<double>(experiment.process_bytes) / smallest;
    return requests <= requests_max
               ? Result<void>{}
               : refuse(
                     fmt::format("process_bytes={}", experiment.process_bytes),
                     fmt::format("{:.0f} processes would move {:.2g} pieces; {:.0g} are the most",
                                 processes, requests, requests_max));
}

}  // namespace

std::string independent_help() {
    const std::string text =
        "forebay_sim independent platform=FILE [KEY=VALUE]...\n"
        "Simulates processes that read or write by themselves, as IOR does, and prints what came\n"
        "of it as JSON; `forebay simulate --independent` shows it.\n\n";
    return text + listed(platform_words()) + listed(independent_keys());
}

Result<IndependentExperiment> parse_independent_options(const std::vector<std::string>& words) {
    return checked<IndependentExperiment>(
        read_keys(words, IndependentExperiment{}, independent_keys()),
        {check_processes, check_sickness, check_files, check_size});
}

}  // namespace forebay::sim
