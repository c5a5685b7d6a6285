// Every key is a row of a table.
#include "worlds/simulate/independent_options.hpp"

#include "worlds/simulate/key_value_options.hpp"
#include "worlds/simulate/sick_target_options.hpp"

#include <fmt/format.h>

namespace forebay::sim {

namespace {

using adapters::Bounds;

constexpr double processes_max = 65536;

std::vector<Key<IndependentExperiment>> independent_keys() {
    using E = IndependentExperiment;
    constexpr Bounds yes_or_no{0, 1, true};
    constexpr Bounds shares{0, 1};
    return {
        plain<E>({"processes", "that read or write; 0: all ranks of all nodes"},
                 {0, processes_max, true}, [](E& e) -> auto& { return e.processes; }),
        plain<E>({"per_node", "of them on a node at most; 0: as many as it has ranks"},
                 {0, processes_max, true}, [](E& e) -> auto& { return e.per_node; }),
        plain<E>({"shared", "1: one file for all; 0: a file for each process"}, yes_or_no,
                 [](E& e) -> auto& { return e.shared; }),
        plain<E>({"stripe_count", "targets of a file; 0: all"}, {0, 65536, true},
                 [](E& e) -> auto& { return e.stripe_count; }),
        bytes<E>({"transfer_bytes", "of a call, as in 1MiB"}, {4 * kibibyte, gibibyte, true},
                 [](E& e) -> auto& { return e.transfer_bytes; }),
        bytes<E>({"process_bytes", "of a process, one call after the other, as in 64MiB"},
                 {4 * kibibyte, tebibyte, true}, [](E& e) -> auto& { return e.process_bytes; }),
        plain<E>({"read", "1: reads instead of writing"}, yes_or_no,
                 [](E& e) -> auto& { return e.read; }),
        plain<E>({"same", "1: all read the same bytes of one file"}, yes_or_no,
                 [](E& e) -> auto& { return e.same; }),
        plain<E>({"direct", "1: past the client's memory, as O_DIRECT"}, yes_or_no,
                 [](E& e) -> auto& { return e.direct; }),
        plain<E>({"drift", "others' load on all targets: deviation of its logarithm"}, shares,
                 [](E& e) -> auto& { return e.background_load.drift; }),
        plain<E>({"noise", "the same of each target by itself"}, shares,
                 [](E& e) -> auto& { return e.background_load.noise; }),
        plain<E>({"stragglers", "share of targets that are 1.3 to 3 times as slow"}, shares,
                 [](E& e) -> auto& { return e.background_load.stragglers; }),
        plain<E>({"moment", "of the drift: the next one is little different"}, {0, 1e6, true},
                 [](E& e) -> auto& { return e.background_load.moment; }),
        sick_target<E>(),
        sick_slower<E>(),
        sick_error_from<E>(),
        plain<E>({"seed", "of what is random; the same gives the same times"}, {0, 1e15, true},
                 [](E& e) -> auto& { return e.seed; }),
    };
}

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

// Each RPC is simulated: a hundred million take an hour.
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
